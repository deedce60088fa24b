"""What judging one module, or part of one, came to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from capturelint.verdict import Certainty, Evidence, Place, Verdict


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one attempt.

    `places`: the user's frames to blame, innermost first; empty where no line is known.
    `operation`, `message`: what was refused and what CUDA says to it. `code`: the rule about the
    operation, or "". `why`: for the undecided. `died`: the device or the process did not survive it.
    `is_settled`: whatever runs of all callables together show.
    """

    verdict: Verdict
    places: tuple[Place, ...] = ()
    certainty: Certainty = Certainty.SHOWN
    operation: str = ""
    message: str = ""
    code: str = ""
    evidence: Evidence = field(default_factory=Evidence)
    why: str = ""
    died: bool = False
    is_settled: bool = False


def decided(together: Outcome, alone: Outcome) -> Outcome:
    """Return the outcome of a callable, from that of the run `together` and that `alone`."""
    if alone.is_settled:
        return alone
    if alone.verdict is not Verdict.STALE:
        return alone if together.verdict is Verdict.EQUAL else together
    if together.verdict in (Verdict.EQUAL, Verdict.OVERWRITTEN):
        return together
    if together.verdict is Verdict.UNDECIDED:
        return replace(together, why=f"{_STALE_ALONE}: {together.why}")
    return alone


# Alone, what is prepared finds nothing of the graph.
_STALE_ALONE = "it is stale alone, and whether it is after what is prepared is not known"
