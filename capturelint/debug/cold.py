"""Capture without any warm-up: what is made in the first call is made inside the graph."""

from __future__ import annotations

from dataclasses import dataclass, replace

from capturelint.debug.attempts.attempt import Tally, attempt
from capturelint.debug.backend import Backend
from capturelint.debug.instance import Instance, modes_of
from capturelint.debug.outcome import Outcome
from capturelint.debug.running import running
from capturelint.debug.settings import Settings


@dataclass(slots=True)
class ColdAttempt:
    """One capture of a callable that was never called before.

    `captured`, `reference`: two fresh instances, one to capture and one to run eagerly. `name`: of
    the callable. `raised_in`: after the attempt, the module that an exception left first, or None.
    """

    captured: Instance
    reference: Instance
    name: str
    backend: Backend
    settings: Settings
    tally: Tally
    raised_in: str | None = None

    def outcome(self) -> Outcome:
        """Make the attempt."""
        case = self.captured.case
        with modes_of(case, self.settings), running(case.named, self.name) as now:
            outcome = attempt(
                self.captured.parts[self.name],
                backend=self.backend,
                state=self.captured.state,
                settings=replace(self.settings, warmup=0),
                prepare=self.captured.prepare,
                reference=self.reference.parts[self.name],
                prepare_reference=self.reference.prepare,
                tally=self.tally,
            )
        self.raised_in = now.raised_in
        return outcome
