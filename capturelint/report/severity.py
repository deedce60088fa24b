"""How grave a finding is, for formats that know errors and warnings."""

from __future__ import annotations

from capturelint.finding import Effect, Finding

_UNCHECKED = ("CL000", "CL001")


def is_error(finding: Finding) -> bool:
    """Return whether the graph cannot be captured, computes something else, or nobody can tell.

    What only makes it slow, and an idle comment, is a warning.
    """
    return finding.code in _UNCHECKED or breaks(finding.effects)


def breaks(effects: tuple[Effect, ...]) -> bool:
    """Return whether one of the effects is more than slowness."""
    return any(effect is not Effect.SLOW for effect in effects)
