"""From what the search found to culprits: the lines to blame and what they do to a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from capturelint.debug.outcome import Outcome
from capturelint.debug.search import Found, How
from capturelint.finding import Effect
from capturelint.verdict import Certainty, Culprit, Evidence, Frozen, Hazard, Place, Verdict

_EFFECTS = {
    Verdict.REFUSES: Effect.REFUSES,
    Verdict.FAILS_COLD: Effect.REFUSES,
    Verdict.STALE: Effect.STALE,
    Verdict.DIFFERS: Effect.STALE,
    Verdict.OVERWRITTEN: Effect.STALE,
    Verdict.FAILS_TOGETHER: Effect.STALE,
    Verdict.PADS: Effect.LEAKS,
    Verdict.WORK_MISSING: Effect.STALE,
    Verdict.EMPTY_GRAPH: Effect.STALE,
}


def culprits_of(
    found: Found, outcome: Outcome, hazards: Sequence[Hazard], cls: str, *, blamed: Iterable[Place]
) -> tuple[Culprit, ...]:
    """Return the culprits in one module that was found to be to blame.

    `hazards`: all of the case; those of this module that capture did not reach are culprits too.
    `blamed`: places that modules below are blamed for already, which are not repeated.
    """
    effect = _EFFECTS.get(outcome.verdict)
    if effect is None:
        return ()
    first = _with_line(_from_outcome(found, outcome, cls, effect), hazards)
    known = {_line(place) for place in blamed}
    is_repeated = first.place is not None and _line(first.place) in known
    if is_repeated and _ran_in(first.place, hazards) <= 1:
        # One module ran the line: it was blamed for it.
        return ()
    culprits = [first]
    if effect is Effect.REFUSES:
        known.update(_line(culprit.place) for culprit in culprits if culprit.place is not None)
        here = [one for one in hazards if one.module == found.path and one.place.path]
        own = [one for one in here if _line(one.place) not in known]
        culprits += [_from_hazard(one, cls) for one in own if one.effect is Effect.REFUSES]
    return tuple(culprits)


def cold_culprits(
    known: Sequence[Culprit], hazards: Sequence[Hazard], modules: Mapping[str, object]
) -> tuple[Culprit, ...]:
    """Return culprits for the lines that refuse without warm-up and are not `known` yet."""
    lines = {_line(one.place) for one in known if one.place is not None}
    others = [one for one in hazards if one.place.path and _line(one.place) not in lines]
    return tuple(
        _from_hazard(one, type(modules[one.module]).__name__ if one.module in modules else "")
        for one in others
        if one.effect is Effect.REFUSES
    )


def in_module(
    root: str, outcome: Outcome, cls: str, hazards: Sequence[Hazard]
) -> tuple[Culprit, ...]:
    """Return the culprit that the capture of `root` alone shows, in the module that ran it."""
    place = outcome.places[0] if outcome.places else None
    running = [
        one.module for one in hazards if place is not None and _line(one.place) == _line(place)
    ]
    module = running[0] if running else root
    return culprits_of(Found(module, outcome.verdict, How.WHOLE), outcome, (), cls, blamed=())


def _from_outcome(found: Found, outcome: Outcome, cls: str, effect: Effect) -> Culprit:
    evidence = outcome.evidence
    if found.how is How.TOGETHER:
        evidence = replace(evidence, together=found.parts)
    return Culprit(
        module=found.path,
        cls=cls,
        place=outcome.places[0] if outcome.places else None,
        operation=outcome.operation,
        effect=effect,
        certainty=outcome.certainty if outcome.places else Certainty.MODULE_ONLY,
        message=outcome.message or _in_words(outcome.verdict, evidence),
        code=outcome.code,
        evidence=evidence,
    )


def _with_line(culprit: Culprit, hazards: Sequence[Hazard]) -> Culprit:
    """Return `culprit` with the one line that was seen to do the same in its module, if it has none.

    A module of torch, captured alone, runs no line of the user's: its caller's was seen before.
    """
    if culprit.place is not None or not culprit.operation:
        return culprit
    modules = _modules_of(culprit.module)
    same = [
        one.place
        for one in hazards
        if one.place.path
        and one.operation == culprit.operation
        and (modules is None or one.module in modules)
    ]
    if len({_line(place) for place in same}) != 1:
        return culprit
    return replace(culprit, place=same[0], certainty=Certainty.LIKELY)


def _modules_of(path: str) -> tuple[str, ...] | None:
    """Return where its hazards are listed; None for a module that no other has registered.

    Hazards of such a one are listed under any that called it.
    """
    return None if path.rpartition(".")[2].startswith("<") else (path,)


def _from_hazard(hazard: Hazard, cls: str) -> Culprit:
    return Culprit(
        module=hazard.module,
        cls=cls,
        place=hazard.place,
        operation=hazard.operation,
        effect=hazard.effect,
        certainty=Certainty.LIKELY,
        message=hazard.message,
        code=hazard.code,
    )


def _in_words(verdict: Verdict, evidence: Evidence) -> str:
    """Return what a verdict without an error of CUDA's means here."""
    if verdict is Verdict.DIFFERS:
        return "computes something else while a stream is being captured"
    if evidence.frozen:
        return _frozen_in_words(evidence.frozen[0])
    if evidence.changes:
        return f"a replay does not repeat what changes between calls: {evidence.changes[0]}"
    return "a replay does not compute what an eager call does"


def _frozen_in_words(frozen: Frozen) -> str:
    what = f"what `{frozen.name}` gave" if frozen.name else "a value from the host, as it was"
    values = f": {frozen.before}, then {frozen.after}" if frozen.before and frozen.after else ""
    return f"every replay uses {what} during capture{values}"


def _ran_in(place: Place | None, hazards: Sequence[Hazard]) -> int:
    """Return how many modules ran this line in the pass made as if capturing."""
    return len({one.module for one in hazards if place and _line(one.place) == _line(place)})


def _line(place: Place) -> tuple[str, int]:
    return place.path, place.line
