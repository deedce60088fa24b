"""What comparing the replays of a graph with eager runs came to, as an outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import GeneratorType

from capturelint.debug.attempts.compare import Difference
from capturelint.debug.attempts.explanation import Explanation
from capturelint.debug.attempts.seen import Seen
from capturelint.debug.dispatched.streams import UNSEEN, is_outside
from capturelint.debug.frames import sourced
from capturelint.debug.outcome import Outcome
from capturelint.debug.trees.parked import back
from capturelint.debug.trees.trees import leaves
from capturelint.finding import Effect
from capturelint.verdict import Certainty, Evidence, Hazard, Place, Verdict

_NOTHING = Evidence()
UNOWNED = "a replay reads memory that was freed, or that nothing has written"


@dataclass(frozen=True, slots=True)
class Differs:
    """A replay, from 1, and where it differs."""

    replay: int
    difference: Difference


def passing(seen: Seen) -> Outcome:
    """Return the outcome of a part whose replays are equal. `seen`: its first step.

    Of a generator that is returned nothing was captured.
    """
    if any(isinstance(leaf.value, GeneratorType) for leaf in leaves(back(seen.result))):
        why = "it returns a generator, whose work is done after the call"
        return Outcome(Verdict.UNDECIDED, why=why)
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


def stale(found: Differs, why: Explanation) -> Outcome:
    """Return the outcome of a part whose graph repeats what eager changes from step to step."""
    return Outcome(
        Verdict.STALE,
        places=why.places,
        certainty=why.certainty,
        operation=why.frozen[0].operation if why.frozen else "",
        evidence=replace(evidence_of(found), frozen=why.frozen, changes=why.changes),
    )


def reading_unowned(found: Differs, why: Explanation) -> Outcome:
    """Return the outcome of a part whose replays read memory that nobody owns.

    `why`: what is freed or never written, as far as that is known.
    """
    return replace(stale(found, why), message=why.message or UNOWNED, is_settled=True)


def differing(found: Differs, places: tuple[Place, ...]) -> Outcome:
    """Return the outcome of a part that computes something else while it is captured.

    `places`: where it takes another way then, if that is known.
    """
    return Outcome(
        Verdict.DIFFERS,
        places=places,
        certainty=Certainty.LIKELY if places else Certainty.MODULE_ONLY,
        evidence=evidence_of(found),
    )


def blaming(outcome: Outcome, hazards: Sequence[Hazard]) -> Outcome:
    """Return the outcome with the lines that a run as if capturing says a graph lacks, or freezes.

    Work outside the capture was left out of it: eager runs that differ from each other are no
    excuse then.
    """
    left_out = outside(hazards)
    if left_out:
        return missing(left_out, outcome.evidence)
    frozen = [one for one in hazards if one.effect is Effect.STALE and one.place.path]
    if not frozen or outcome.verdict is Verdict.NONDETERMINISTIC:
        return outcome
    return replace(_blamed(outcome, frozen), message=frozen[0].message)


def outside(hazards: Iterable[Hazard]) -> list[Hazard]:
    """Return those that a capture, once it was made, did not see: work that is no part of it."""
    return [one for one in hazards if is_outside(one.operation) and one.place.path]


def missing(left_out: Sequence[Hazard], evidence: Evidence = _NOTHING) -> Outcome:
    """Return the outcome of a part whose graph lacks work that each eager call does.

    `left_out`: where that work is done, as seen in a run as if capturing. `evidence`: of what a
    replay does without it, if that showed.
    """
    outcome = Outcome(Verdict.WORK_MISSING, evidence=evidence, message=UNSEEN)
    return _blamed(outcome, left_out)


def empty(launched: Sequence[Place], left_out: Sequence[Hazard]) -> Outcome:
    """Return the outcome of a part whose graph holds nothing, though an eager call launches work.

    `launched`: where, an entry for each operation.
    """
    count = "1 operation" if len(launched) == 1 else f"{len(launched)} operations"
    outcome = Outcome(
        Verdict.EMPTY_GRAPH,
        places=tuple(sourced(place) for place in launched[:1] if place.path),
        certainty=Certainty.LIKELY,
        message=f"the graph is empty: an eager call launches {count}, and it holds none",
    )
    return _blamed(outcome, left_out) if left_out else outcome


def _blamed(outcome: Outcome, hazards: Sequence[Hazard]) -> Outcome:
    return replace(
        outcome,
        places=tuple(sourced(hazard.place) for hazard in hazards),
        certainty=Certainty.LIKELY,
        operation=hazards[0].operation,
        code=hazards[0].code,
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
