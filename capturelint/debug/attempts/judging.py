"""The order of one attempt: each stage on the state that the stage before is undone to."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext

from capturelint.debug.attempts.compare import Tolerance
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
    stale,
)
from capturelint.debug.attempts.explanation import Explanation
from capturelint.debug.attempts.frozen import Explainer
from capturelint.debug.attempts.refused import refused
from capturelint.debug.attempts.runs import Graph, Inputs
from capturelint.debug.attempts.seen import Noise, Seen, most
from capturelint.debug.attempts.side import Side
from capturelint.debug.attempts.stages import CAPTURING, EAGER, REPLAYING, Stages, UndecidedError
from capturelint.debug.attempts.warming import warm_up
from capturelint.debug.backend import Backend, SpentError
from capturelint.debug.outcome import Outcome
from capturelint.debug.settings import Settings
from capturelint.debug.states.state import Snapshot
from capturelint.verdict import Certainty, Hazard, Place

# By how many warm-ups were made: steps of the first eager run that may write what is not known.
_STEPS_WATCHED: Mapping[int | None, int] = {0: sys.maxsize, 1: 1}


class Judge:
    """Judges one part by a graph of it and by eager runs.

    `captured`, `eager`: the same, or two instances. `inputs`: the static inputs of the graph.
    `fresh`: the state before the first call of all, as far as it is known. `outside`: work of the
    part that a run as if capturing saw outside the capture.
    """

    def __init__(
        self,
        captured: Side,
        eager: Side,
        backend: Backend,
        settings: Settings,
        inputs: Inputs,
        fresh: Snapshot,
        outside: Sequence[Hazard] = (),
        *,
        reach: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._captured = captured
        self._reach = reach
        self._eager = eager
        self._backend = backend
        self._stages = Stages(backend, captured.runs.stand_ins)
        self._settings = settings
        self._tolerance = Tolerance(settings.rtol, settings.atol)
        part = captured.runs.part
        most = captured.runs.stand_ins.steps
        self._steps = min(settings.replays + 1, len(part.steps), *(() if most is None else (most,)))
        self._graph: Graph | None = None
        self._fresh = fresh
        self._inputs = inputs
        self._outside = outside

    def close(self) -> None:
        """Give the memory of the graph back."""
        if self._graph is not None:
            self._graph.captured.close()

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
        expected = self._run_eagerly(watched=_STEPS_WATCHED.get(self._settings.warmup, 0))
        self._stages.settle()
        (found,) = self._replay({}, expected)
        if found is not None:
            return self._failure(found, expected)
        return missing(self._outside) if self._outside else passing(expected[0])

    def _launched(self) -> tuple[tuple[Place, ...], Sequence[Hazard]]:
        """Return where an eager call that takes itself for captured launches work.

        And the lines that it lists.
        """
        path = self._captured.runs.part.path
        with self._stages.eager(), self._backend.as_if_capturing(lambda: path) as listed:
            launched = self._explainer.launched()
        return launched, listed

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

    def _run_eagerly(self, *, watched: int = 0) -> list[Seen]:
        """Return what each step comes to, from the start. `watched`: how many to learn from."""
        state = self._eager.state
        state.restore(self._eager_start)
        with self._stages.eager():
            seen = self._eager.runs.seen(self._steps)
            with self._stages.watched(state) if watched else nullcontext():
                first = list(itertools.islice(seen, watched))
            return [*first, *seen]

    def _replay(self, noise: Noise, *references: Sequence[Seen]) -> list[Differs | None]:
        """Return the first replay that differs from each of the references, from the start.

        Each is compared at once, because the next one overwrites what it left. `noise`: what eager
        runs differ by.
        """
        self._captured.state.restore(self._start)
        found: list[Differs | None] = [None] * len(references)
        for step in range(self._steps):
            replayed = self._replayed(step)
            for number, reference in enumerate(references):
                differs = reference[step].difference(replayed, self._tolerance, noise)
                if found[number] is None and differs is not None:
                    found[number] = Differs(step + 1, differs)
            if None not in found:
                break
        return found

    def _replayed(self, step: int) -> Seen:
        """Replay on the inputs of `step`. Raises UndecidedError, DiedError."""
        assert self._graph is not None
        self._reach(REPLAYING)
        with self._stages.replaying(step):
            return self._captured.runs.replayed(self._graph, step)

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

    def _is_noisy(self, *runs: Sequence[Seen]) -> bool:
        return any(a.difference(b, self._tolerance, {}) for a, b in zip(*runs, strict=True))

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

    @property
    def _explainer(self) -> Explainer:
        return Explainer(self._eager.runs, self._eager.state, self._eager_start)
