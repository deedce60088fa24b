"""The order of one attempt: each stage on the state that the stage before is undone to."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

from capturelint.debug.attempts.comparison import Comparison
from capturelint.debug.attempts.died import died_capturing
from capturelint.debug.attempts.differs import (
    Differs,
    blaming,
    differing,
    empty,
    missing,
    nondeterministic,
    outside,
    passing,
    reading_unowned,
    stale,
)
from capturelint.debug.attempts.explanation import Explanation
from capturelint.debug.attempts.freed import freed
from capturelint.debug.attempts.refused import refused
from capturelint.debug.attempts.seen import Seen, most
from capturelint.debug.attempts.stages import CAPTURING, EAGER, UndecidedError
from capturelint.debug.attempts.unowned import Spoiled
from capturelint.debug.attempts.warming import warm_up
from capturelint.debug.backend import SpentError
from capturelint.debug.outcome import Outcome
from capturelint.verdict import Certainty, Hazard, Place, Verdict

_UNEXPLAINED = (Verdict.STALE, Verdict.NONDETERMINISTIC)
# By how many warm-ups were made: steps of the first eager run that may write what is not known.
_STEPS_WATCHED: Mapping[int | None, int] = {0: sys.maxsize, 1: 1}


class Judge(Comparison):
    """Judges one part by a graph of it and by eager runs."""

    def ready(self) -> Outcome | None:
        """Warm up and capture. Return what a refusal shows. Raises UndecidedError."""
        self._backend.unsupported()  # what others met is theirs
        if self._settings.warmup != 0:
            warm_up(self._captured, self._inputs, self._stages, wanted=self._settings.warmup)
        self._stages.settle()
        self._start = self._eager_start = self._captured.start()
        if self._eager is not self._captured:
            self._eager_start = self._eager.start()
        return self._capture()

    def outcome(self) -> Outcome:
        """Return what the part shows. Raises UndecidedError."""
        found = self._shown()
        is_whole = self._captured.runs.stand_ins.steps is None
        if found.verdict not in (Verdict.WORK_MISSING, Verdict.EMPTY_GRAPH) or not is_whole:
            return found
        return replace(found, evidence=replace(found.evidence, counts=self._counts()))

    def _counts(self) -> str:
        """Return in words how much an eager call runs and a graph holds, "" where it is not told."""
        self._captured.state.restore(self._start)
        try:
            counts = self._captured.runs.counts(self._inputs)
        except (Exception, SpentError):  # noqa: BLE001 - the verdict stands without
            return ""
        return "" if counts is None else str(counts)

    def _shown(self) -> Outcome:
        refusal = self.ready()
        if refusal is not None:
            return refusal
        if self._graph is not None and self._graph.captured.is_empty:
            launched, hazards = self._launched()
            left_out = outside(hazards)
            if left_out and self._captured.runs.stand_ins.steps is not None:
                return missing(left_out)  # what stands in for modules records nothing
            if launched:
                return empty(launched, left_out)
        expected = self._run_eagerly(watched=self._steps_watched())
        self._stages.settle()
        # Cold, what the first call makes in the graph may be all that holds it.
        is_looked_for = self._settings.warmup != 0 and not self._outside
        outcome = self._failing(expected, self._spoiled() if is_looked_for else None)
        if outcome is not None and outcome.verdict is Verdict.NONDETERMINISTIC and self._learned():
            outcome = self._failing(self._run_eagerly(), None)
        if outcome is not None:
            return outcome
        return missing(self._outside) if self._outside else passing(expected[0])

    def _steps_watched(self) -> int:
        """Return how many steps of the first eager run may write what is not known yet.

        What is prepared may let any step be the first to write something. What is compiled would
        run eagerly while it is watched, and compute something else.
        """
        is_prepared = self._captured.runs.before is not None
        if is_prepared and not self._backend.runs_compiled():
            return self._steps
        return _STEPS_WATCHED.get(self._settings.warmup, 0)

    def _learned(self) -> bool:
        """Return whether an eager run writes what was not known, and so was never put back."""
        if self._backend.runs_compiled():
            return False
        state, runs = self._eager.state, self._eager.runs
        self._run_eagerly(watched=self._steps)
        known, runs.held = runs.held, state.held(self._eager_start)
        return not set(known.written).issuperset(runs.held.written)

    def _failing(self, expected: list[Seen], spoiled: Spoiled | None) -> Outcome | None:
        """Return what replays come to that differ from eager, or None.

        `spoiled`: replays over memory that nobody owns; None where there is none.
        """
        (found,) = self._replay({}, expected, spoiled=spoiled)
        if spoiled is not None and found is not None and found.replay > 1:
            spoiled.memory.restore()
            (found,) = self._replay({}, expected)
            if found is None:
                return self._unowned(spoiled, expected[0])
        if found is None:
            is_shown = spoiled is not None and spoiled.differs(expected[0], self._tolerance)
            return self._unowned(spoiled, expected[0]) if is_shown else None
        outcome = self._failure(found, expected)
        is_open = outcome.verdict in _UNEXPLAINED and not outcome.places
        return (self._unowned(spoiled, expected[0]) if is_open else None) or outcome

    def _unowned(self, spoiled: Spoiled | None, expected: Seen) -> Outcome | None:
        """Return the outcome if the graph reads memory that nobody owns, else None."""
        found = None if spoiled is None else spoiled.difference(expected, self._tolerance)
        if found is None:
            return None
        with self._stages.eager():
            return reading_unowned(Differs(1, found), freed(self._explainer))

    def _launched(self) -> tuple[tuple[Place, ...], Sequence[Hazard]]:
        """Return where an eager call that takes itself for captured launches work.

        And the lines that it lists.
        """
        path = self._captured.runs.part.path
        with self._stages.eager(), self._backend.as_if_capturing(lambda: path) as listed:
            launches = self._explainer.recorded()
        return tuple(one.place for one in launches.items), listed

    def _capture(self) -> Outcome | None:
        """Capture the part. Return what a refusal shows.

        The state is not fit to run on: what was made inside lies in memory that nothing has written.
        """
        state = self._captured.state
        handled = sys.exc_info()[1]
        refusal = None
        self._reach(CAPTURING)
        try:
            with state.watching() if self._settings.warmup == 0 else nullcontext():
                self._graph = self._captured.runs.captured(self._inputs)
        except SpentError as error:
            raise died_capturing(error, before=handled) from error
        except Exception as error:  # noqa: BLE001 - whatever ends a capture is its outcome
            refusal = refused(error, before=handled)
        self._reach(EAGER)
        self._stages.stop_if_unsupported()
        return refusal

    def _failure(self, first: Differs, expected: list[Seen]) -> Outcome:
        """Return what it means that a replay differs from eager."""
        again = self._run_eagerly()
        is_noisy = self._is_noisy(expected, again)
        noise = most(one.noise(other) for one, other in zip(expected, again, strict=True))
        others, hazards = self._as_if_capturing()
        found, *rest = self._replay(noise, expected, *others)
        if found is not None and rest == [None] and not is_noisy:
            # What the clock or the system gives may agree twice: once more.
            is_noisy = self._is_noisy(expected, self._run_eagerly())
            if not is_noisy:
                return self._differing(found)
        outcome = self._explained(found or first, is_noisy=is_noisy, is_within=found is None)
        is_sure = bool(outcome.places) and outcome.certainty is Certainty.SHOWN
        if is_sure or (outcome.places and not outside(hazards)):
            return outcome
        return blaming(outcome, hazards)

    def _as_if_capturing(self) -> tuple[list[list[Seen]], Sequence[Hazard]]:
        """Return what an eager run that takes itself for captured comes to, if it can be made.

        And the lines that it lists.
        """
        listed: Sequence[Hazard] = ()
        path = self._captured.runs.part.path
        try:
            with self._backend.as_if_capturing(lambda: path) as listed:
                seen = self._run_eagerly()
        except UndecidedError:  # such code may do anything; the graph itself was captured
            return [], listed
        return [seen], listed

    def _explained(self, found: Differs, *, is_noisy: bool, is_within: bool) -> Outcome:
        """Return the outcome for a graph that repeats what eager changes from step to step.

        `is_noisy`: eager differs from eager too; `is_within`: by no less than the replays.
        """
        difference = found.difference
        returned = (difference.got, difference.expected) if difference.largest is None else None
        why = Explanation()
        with self._stages.eager():
            if is_noisy:
                why = self._explainer.unrepeatable()
            if not why.frozen and not is_within:
                why = self._explainer.explanation(found.replay - 1, returned)
            if not why.places and not is_within:
                why = self._explainer.kept(self._inputs, self._fresh)
        if not why.frozen and (is_within or is_noisy):
            return nondeterministic(found)
        return stale(found, why)

    def _differing(self, found: Differs) -> Outcome:
        """Return the outcome for a part that computes something else while it is captured."""
        try:
            with self._stages.eager():
                places = self._explainer.ways_part()
        except UndecidedError:
            places = ()
        return differing(found, places)
