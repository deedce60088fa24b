"""The patterns that a run decides, and the order in which the places of a function are rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

import libcst as cst

from capturelint.rewrite.form import Form, Refusal
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.patterns import (
    asserted,
    bounded,
    branch,
    buffered,
    choice,
    decomposed,
    from_source,
    gathered,
    grouped_product,
    hits,
    host_called,
    host_made,
    larger,
    lengths,
    masked,
    packed,
    positions,
    predicated,
    printing,
    reading,
    reduced,
    repeated,
    roundtrip,
    splitting,
    unbounded,
)


class Pattern(Protocol):
    """A module that knows one kind of place."""

    def sites(self, facts: Observed) -> Sequence[cst.CSTNode]:
        """Return the places of a function that it knows, in the order of the source."""
        ...

    def tests(self, node: cst.CSTNode, facts: Observed) -> Sequence[cst.BaseExpression]:
        """Return the conditions of a place that must have come to both outcomes."""
        ...

    def match(self, node: cst.CSTNode, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:
        """Offer forms, the best first, or say why there are none."""
        ...


# Each makes others fit: a flag is split off before its branch, a read becomes a tensor before its use.
PATTERNS = cast(
    "tuple[Pattern, ...]",
    (
        *(splitting, printing, asserted, lengths, hits, reading, roundtrip, host_made, positions),
        host_called,
        *(
            from_source,
            decomposed,
            buffered,
            larger,
            choice,
            reduced,
            masked,
            packed,
            gathered,
            bounded,
        ),
        grouped_product,
        *(branch, predicated, repeated, unbounded),
    ),
)


def sites(facts: Observed) -> dict[cst.CSTNode, list[Pattern]]:
    """Return the places that patterns know, with those that do: by pattern, the last place first."""
    found: dict[cst.CSTNode, list[Pattern]] = {}
    for pattern in PATTERNS:
        for node in reversed(pattern.sites(facts)):
            found.setdefault(node, []).append(pattern)
    return found
