"""Replay one graph on ever-new inputs, stretch by stretch, from where the stretch before left off."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import replace

from capturelint.debug.attempts.frozen import Explainer
from capturelint.debug.attempts.judging import Judge
from capturelint.debug.attempts.part import Call
from capturelint.debug.attempts.runs import Inputs
from capturelint.debug.attempts.side import Side
from capturelint.debug.attempts.stages import UndecidedError
from capturelint.debug.backend import Backend
from capturelint.debug.outcome import Outcome
from capturelint.debug.settings import Settings
from capturelint.debug.states.state import Snapshot
from capturelint.verdict import Verdict


class Soak(Judge):
    """Judges more steps than there are kept, with one graph.

    Eager and replays each go on from their own state. `grown`: bytes of the device that replays,
    and what was prepared for them, kept so far; None where the backend does not tell. `replays`:
    how many those were.
    """

    def __init__(
        self, side: Side, backend: Backend, settings: Settings, inputs: Inputs, fresh: Snapshot
    ) -> None:
        super().__init__(side, side, backend, settings, inputs, fresh)
        self._captured_part = side.runs.part
        self._captured_start: Snapshot | None = None
        self.grown: int | None = None
        self.replays = 0

    @property
    def is_ready(self) -> bool:
        """Return whether the graph was captured."""
        return self._captured_start is not None

    def stretch(self, steps: Sequence[tuple[Call, ...]], number: int) -> Outcome:
        """Return what the next `steps` show, whose first has this number. Raises UndecidedError."""
        if self._captured_start is None:
            refusal = self.ready()
            if refusal is not None:
                raise UndecidedError("it cannot be captured once more")
            self._captured_start = self._start
        numbers = tuple(range(number, number + len(steps)))
        self._eager.runs.part = replace(self._captured_part, steps=steps, numbers=numbers)
        self._steps = len(steps)
        expected = self._run_eagerly(watched=self._steps_watched())
        self._stages.settle()
        left = self._eager.state.save()
        before = self._backend.allocated()
        (found,) = self._replay({}, expected)
        self._count(before)
        if found is None:
            self._eager_start, self._start = left, self._captured.state.save()
            return Outcome(Verdict.EQUAL)
        outcome = self._failure(found, expected)
        replay = outcome.evidence.replay or found.replay
        return replace(outcome, evidence=replace(outcome.evidence, replay=replay + number))

    def _steps_watched(self) -> int:
        """Return all steps: any may be the first to write something, which must be put back."""
        return 0 if self._backend.runs_compiled() else self._steps

    def _count(self, before: int | None) -> None:
        """Add what replays, and what was prepared for them, still hold on the device."""
        gc.collect()
        after = self._backend.allocated()
        if before is not None and after is not None:
            self.grown = (self.grown or 0) + after - before
            self.replays += self._steps

    @property
    def _explainer(self) -> Explainer:
        runs, state = self._eager.runs, self._eager.state
        if self._captured_start is None:
            return super()._explainer
        first = Explainer(replace(runs, part=self._captured_part), state, self._captured_start)
        return Explainer(runs, state, self._eager_start, first)
