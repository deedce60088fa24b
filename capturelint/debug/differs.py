"""What comparing the replays of a graph with eager runs came to, as an outcome."""

from __future__ import annotations

from dataclasses import dataclass

from capturelint.debug.compare import Difference
from capturelint.debug.outcome import Outcome
from capturelint.debug.runs import Seen
from capturelint.verdict import Evidence, Verdict


@dataclass(frozen=True, slots=True)
class Differs:
    """A replay, from 1, and where it differs."""

    replay: int
    difference: Difference


def passing(seen: Seen) -> Outcome:
    """Return the outcome of a part whose replays are equal. `seen`: its first step."""
    written = [f"the input `{name}` is written in place" for name in seen.arguments]
    shared = (*seen.aliases, *written)
    if not shared:
        return Outcome(Verdict.EQUAL)
    return Outcome(Verdict.ALIASES_INPUT, message="; ".join(shared))


def nondeterministic(found: Differs) -> Outcome:
    """Return the outcome of a part whose eager runs differ by as much as a replay does."""
    return Outcome(
        Verdict.NONDETERMINISTIC,
        message="two eager runs differ as well",
        evidence=evidence_of(found),
    )


def evidence_of(found: Differs) -> Evidence:
    """Return the evidence that a difference is."""
    difference = found.difference
    return Evidence(
        replay=found.replay,
        output=difference.path,
        difference=difference.largest,
        tolerance=difference.tolerance,
        dtype=difference.dtype,
    )
