"""Warm one part up alone: what it makes when it is called first is made before its capture."""

from __future__ import annotations

from capturelint.debug.attempts.runs import Inputs
from capturelint.debug.attempts.side import Side
from capturelint.debug.attempts.stages import Stages
from capturelint.debug.states.state import Snapshot, State

_WARMUPS = 3
_MOST_WARMUPS = 10


def warm_up(side: Side, inputs: Inputs, stages: Stages, *, wanted: int | None) -> None:
    """Call a part on its static inputs. `wanted`: how often, None for until state is stable."""
    runs, state, backend = side.runs, side.state, stages.backend
    before = None
    for count in range(1, _MOST_WARMUPS + 1):
        is_last = count >= (wanted or _WARMUPS)
        before = state.save() if is_last and wanted is None else None
        # What one call makes, such as the state of an optimizer, the next one writes.
        with stages.watched(state), backend.warming_up():
            runs.alone(0, inputs)
        if is_last and (before is None or not _is_growing(state, before)):
            break
    if backend.runs_compiled():
        with stages.eager(), backend.warming_up():
            runs.alone(0, inputs)


def _is_growing(state: State, before: Snapshot) -> bool:
    """Return whether the last call still made something that was not there before."""
    return any(change.kind == "created" for change in state.changes(before, state.save()))
