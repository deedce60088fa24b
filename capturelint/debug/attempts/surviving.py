"""Whether the device survives a graph, whatever that computes."""

from __future__ import annotations

from capturelint.debug.attempts.judging import Judge
from capturelint.debug.attempts.warming import warm_up
from capturelint.debug.outcome import Outcome
from capturelint.verdict import Verdict


class Survivor(Judge):
    """Captures a part and replays it, and compares nothing."""

    def outcome(self) -> Outcome:
        """Return `EQUAL` if the device survives. Raises UndecidedError, DiedError."""
        self._backend.unsupported()  # what others met is theirs
        warm_up(self._captured, self._inputs, self._stages, wanted=self._settings.warmup)
        self._stages.settle()
        self._start = self._captured.start()
        refusal = self._capture()
        if refusal is not None:
            return refusal
        self._captured.state.restore(self._start)
        for step in range(self._steps):
            self._replayed(step)
        return Outcome(Verdict.EQUAL)
