"""Judge the callables of a case together: captured in order into one pool, and replayed in order.

Alone, each is judged on state that its capture is undone of. Together what one leaves is there for
the next, and for what is prepared before each step, as it is where graphs are used.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from capturelint.debug.attempts.compare import EXACT, Difference, Tolerance, difference
from capturelint.debug.attempts.died import DiedError, unless_lost
from capturelint.debug.attempts.differs import Differs, evidence_of, stale
from capturelint.debug.attempts.explanation import Cause, Explanation, explained, joined
from capturelint.debug.attempts.flow import Flow, Turn, close
from capturelint.debug.attempts.handed import Read, reads
from capturelint.debug.attempts.refused import refused
from capturelint.debug.attempts.runs import Graph, Tally
from capturelint.debug.attempts.seen import Noise
from capturelint.debug.attempts.stages import UndecidedError
from capturelint.debug.backend import Backend
from capturelint.debug.frames import sourced
from capturelint.debug.outcome import Outcome
from capturelint.debug.settings import Settings
from capturelint.debug.states.causes import writers
from capturelint.debug.trees.parked import Parked
from capturelint.debug.warmup import Warm
from capturelint.verdict import Certainty, Evidence, Frozen, Verdict

_NO_NOISE: Noise = {}
_COMPARABLE = frozenset({Verdict.EQUAL, Verdict.ALIASES_INPUT, Verdict.STALE})


@dataclass(frozen=True, slots=True)
class _Found:
    """The first replay that differs from eager. `turn`: from 0. `name`: of its callable."""

    turn: int
    name: str
    difference: Difference

    @property
    def replay(self) -> int:
        """Return which replay it is, from 1; the one that follows a capture at once is the first too."""
        return max(self.turn, 1)


@dataclass(slots=True)
class Together:
    """The outcomes of the callables of `flow`, found when the first is asked for.

    `stale`: the callables that are stale alone, which pass here only if all are compared to the end.
    """

    flow: Flow
    tolerance: Tolerance
    stale: frozenset[str] = frozenset()
    _outcomes: dict[str, Outcome] | None = field(default=None)

    def outcome(self, name: str) -> Outcome:
        """Return what the callable `name` came to."""
        if self._outcomes is None:
            self._outcomes = self._judged()
        if not self._outcomes or (name not in self._outcomes and name not in self.stale):
            return Outcome(Verdict.EQUAL)
        return self._outcomes.get(name) or self._not_reached(name)

    def _not_reached(self, name: str) -> Outcome:
        """Return the outcome of a callable that was not compared to the end."""
        ((other, found),) = (self._outcomes or {}).items()
        why = (
            found.why
            or f"captured and replayed in order, `{other}` fails before `{name}` is judged"
        )
        return Outcome(Verdict.UNDECIDED, why=why)

    def _judged(self) -> dict[str, Outcome]:
        """Return the outcomes of those that do not pass. Leaves the state as it was."""
        first = next(iter(self.flow.runs))
        try:
            return self._compared()
        except UndecidedError as error:
            why = f"captured and replayed in order, it could not be judged: {error}"
            return {first: Outcome(Verdict.UNDECIDED, why=why)}
        except DiedError as error:
            # Nobody is to look for it in the callable alone, which may survive.
            return {self.flow.current: replace(error.outcome, died=False)}
        finally:
            with unless_lost(self.flow.stages.backend):
                self.flow.state.restore(self.flow.start)

    def _compared(self) -> dict[str, Outcome]:
        expected = self.flow.eagerly()
        handled = sys.exc_info()[1]
        try:
            graphs = self.flow.captured()
        except Exception as error:  # noqa: BLE001 - whatever ends a capture is its outcome
            return {self.flow.current: _refusing(refused(error, before=handled))}
        try:
            self.flow.stages.stop_if_unsupported()
            found = self._first_difference(graphs, expected)
        finally:
            with unless_lost(self.flow.stages.backend):
                close(graphs.values())
        if found is None:
            return {}
        if self._is_noisy(expected, self.flow.eagerly()):
            why = "two eager runs of the callables in order differ, and so does a replay of them"
            return {found.name: Outcome(Verdict.UNDECIDED, why=why)}
        return self._explained(found)

    def _first_difference(
        self, graphs: Mapping[str, Graph], expected: Sequence[Turn]
    ) -> _Found | None:
        for one in self.flow.replayed(graphs):
            reference = expected[one.turn][one.name]
            difference = reference.difference(one.seen, self.tolerance, _NO_NOISE)
            if difference is not None:
                return _Found(one.turn, one.name, difference)
        return None

    def _is_noisy(self, first: Sequence[Turn], again: Sequence[Turn]) -> bool:
        return any(
            seen.difference(turn[name], self.tolerance, _NO_NOISE) is not None
            for before, turn in zip(first, again, strict=True)
            for name, seen in before.items()
        )

    def _explained(self, found: _Found) -> dict[str, Outcome]:
        """Return what reads of earlier outputs say about the difference."""
        seen = reads(self.flow, min(found.turn + 2, len(self.flow.steps)))
        late = next((one for one in seen if one.is_late), None)
        if late is not None:
            return {late.maker: self._overwritten(late, found)}
        moved = [one for one in seen if one.is_of_earlier_turn and one.reader == found.name]
        if moved:
            return {found.name: stale(Differs(found.replay, found.difference), self._moved(moved))}
        return {found.name: _failing_together(found, tuple(self.flow.runs))}

    def _overwritten(self, late: Read, found: _Found) -> Outcome:
        by = self._overwriter(late.maker)
        whose = f"`{late.maker}`" if late.maker else "a call"
        whom = "its next replay" if by == late.maker else f"the next replay of `{by}`"
        return Outcome(
            Verdict.OVERWRITTEN,
            places=(sourced(late.place),),
            certainty=Certainty.LIKELY,
            operation=late.operation,
            message=f"reads what {whose} left in an earlier step; {whom} has overwritten it",
            evidence=_evidence(found, tuple(dict.fromkeys((late.maker, by)))),
        )

    def _overwriter(self, maker: str) -> str:
        """Return which callable's replay is the first to change what `maker` returned."""
        graphs = self.flow.captured()
        result, before = None, None
        try:
            for one in self.flow.replayed(graphs):
                if one.name == maker:
                    result, before = one.seen.result, Parked(one.seen.result)
                elif before is not None and difference(before.back(), result, EXACT) is not None:
                    return one.name
        finally:
            close(graphs.values())
        return maker

    def _moved(self, moved: Sequence[Read]) -> Explanation:
        """Return why a graph reads what is no longer there: what was bound anew, and where."""
        causes = self._causes()
        frozen = [
            Frozen(
                sourced(one.place),
                one.operation,
                "memory of before the capture",
                f"what {f'`{one.maker}`' if one.maker else 'the call'} made in the last step",
            )
            for one in {(one.place.path, one.place.line): one for one in moved}.values()
        ]
        return explained([joined(one, causes) for one in frozen], causes, None)

    def _causes(self) -> list[Cause]:
        """Return what the steps bind anew, with the lines that do."""
        flow = self.flow
        steps = flow.steps[:3]
        flow.state.restore(flow.start)
        saved = [flow.state.save() for _ in flow.turns(steps)]
        changes = [one for one in flow.state.changes(*saved[-2:]) if one.kind == "rebound"]
        flow.state.restore(flow.start)
        lines = writers(lambda: list(flow.turns(steps)), flow.state, changes)
        return [Cause(one, lines.get(one.name)) for one in changes]


def together_of(
    warm: Warm, backend: Backend, settings: Settings, tally: Tally, alone: Mapping[str, Verdict]
) -> Together:
    """Return what judges the callables of a warm instance together. `alone`: what each came to."""
    instance = warm.instance
    flow = Flow(
        instance.parts,
        backend=backend,
        state=instance.state,
        start=warm.start,
        prepare=instance.prepare,
        seed=settings.seed,
        tally=tally,
    )
    stale = frozenset(name for name, one in alone.items() if one is Verdict.STALE)
    return Together(flow, Tolerance(settings.rtol, settings.atol), stale)


def is_worth_running(alone: Collection[Verdict], *, is_prepared: bool) -> bool:
    """Return whether more may show than it does `alone`.

    What is prepared finds nothing of a graph alone: it may be all that makes a replay stale.
    """
    if not _COMPARABLE.issuperset(alone):
        return False
    return is_prepared if Verdict.STALE in alone else len(alone) > 1


def _refusing(outcome: Outcome) -> Outcome:
    """Return the outcome of a callable that is captured alone, and not after the others."""
    if outcome.verdict is not Verdict.REFUSES:
        return outcome
    return replace(outcome, verdict=Verdict.FAILS_TOGETHER)


def _failing_together(found: _Found, names: tuple[str, ...]) -> Outcome:
    return Outcome(
        Verdict.FAILS_TOGETHER,
        certainty=Certainty.MODULE_ONLY,
        message="captured and replayed in order, it does not compute what eager calls in order do",
        evidence=_evidence(found, names),
    )


def _evidence(found: _Found, names: tuple[str, ...]) -> Evidence:
    evidence = evidence_of(Differs(found.replay, found.difference))
    return replace(evidence, together=names if len(names) > 1 else ())
