"""Steps of a run: say when one starts, keep what it came to, and skip those that are known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from capturelint.debug.backend import SpentError
from capturelint.debug.events import Event, Judged, Reached, Said, Started
from capturelint.debug.outcome import Outcome


class Ledger:
    """What was judged so far. `seconds`: by kind of step. `attempts`: outcomes found in this run.

    `known`: outcomes of an earlier process that ran the same case, by step. `spent`: tells why the
    device does not outlive the last step, or "".
    """

    def __init__(
        self,
        known: Mapping[str, Outcome],
        emit: Callable[[Event], None],
        spent: Callable[[], str] = lambda: "",
    ) -> None:
        self._outcomes = dict(known)
        self._emit = emit
        self._spent = spent
        self.attempts = 0
        self.seconds: dict[str, float] = {}

    def outcome(self, step: str, work: Callable[[], Outcome]) -> Outcome:
        """Return the outcome of a step, found by `work` unless it is known.

        Raises `SpentError` if this process cannot go on after it; the outcome is told before.
        """
        if step not in self._outcomes:
            with self.timed(step):
                self.attempts += 1
                self._outcomes[step] = work()
            self._emit(Judged(step, self._outcomes[step]))
            why = self._spent()
            if why:
                raise SpentError(why)
        return self._outcomes[step]

    def died(self, step: str) -> Outcome | None:
        """Return the outcome of a step that an earlier process did not survive, or None."""
        return self._outcomes.get(step)

    def forget(self, step: str) -> None:
        """Let a step be found again, though an earlier process came through it."""
        self._outcomes.pop(step, None)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Say that `step` starts, and count its seconds under its first word."""
        self._emit(Started(step))
        start = time.monotonic()
        try:
            yield
        finally:
            kind = step.partition(" ")[0]
            self.seconds[kind] = self.seconds.get(kind, 0.0) + time.monotonic() - start

    def reach(self, stage: str) -> None:
        """Say how far a step has come."""
        self._emit(Reached(stage))

    def say(self, text: str) -> None:
        """Tell the user what is going on."""
        self._emit(Said(text))
