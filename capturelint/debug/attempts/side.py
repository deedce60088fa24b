"""A part with the state that its calls change: the one to capture, or the one to run eagerly."""

from __future__ import annotations

from dataclasses import dataclass

from capturelint.debug.attempts.runs import Runs
from capturelint.debug.states.state import Snapshot, State


@dataclass(frozen=True, slots=True)
class Side:
    """A part and its state."""

    runs: Runs
    state: State

    def start(self) -> Snapshot:
        """Return the state as it is now, and observe from now on the tensors that it holds."""
        snapshot = self.state.save()
        self.runs.held = self.state.held(snapshot)
        return snapshot
