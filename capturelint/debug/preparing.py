"""What is done before a step: the user's `prepare`, which is called again and again, and seeding."""

from __future__ import annotations

import torch
from torch.utils._mode_utils import no_dispatch

from capturelint.debug.backend import Backend
from capturelint.debug.cases.mistakes import CaseError, raised
from capturelint.debug.instance import Instance, modes_of
from capturelint.debug.settings import Settings
from capturelint.debug.states.state import Change, Snapshot

_STEP = 1  # the first that no warm-up call was prepared for
# Objects that are made anew may hold the same; of these kinds the values are compared.
_VALUES = ("number", "host tensor")
_MUST = (
    "it is called again for the same and for earlier steps, so it must depend on its number alone"
)


def prepare(
    instance: Instance, step: int, backend: Backend, settings: Settings, *, is_again: bool
) -> None:
    """Do what comes before a step. `is_again`: it was prepared before.

    Raises `CaseError` if the user's function raises.
    """
    if instance.prepare is not None:
        try:
            instance.prepare(step)
        except Exception as error:
            if is_again:
                raise CaseError(
                    f"{raised(f'prepare({step}), called again,', error)}; {_MUST}"
                ) from error
            raise raised(f"prepare({step})", error) from error
    backend.seed(settings.seed + step)


def note_on_again(
    instance: Instance, start: Snapshot, backend: Backend, settings: Settings
) -> tuple[str, ...]:
    """Return a note on a `prepare` that, called twice from one state, leaves another each time.

    `start`: the state to call it from, which is put back. Raises `CaseError` if it raises.
    """
    if instance.prepare is None:
        return ()
    left: list[Snapshot] = []
    for is_again in (False, True):
        backend.seed(settings.seed)  # what it draws at random may differ between runs
        with modes_of(instance.case, settings), instance.state.watching():
            prepare(instance, _STEP, backend, settings, is_again=is_again)
        left.append(instance.state.save())
        instance.state.restore(start)
    first, second = left
    changes = (one for one in instance.state.changes(first, second) if one.kind in _VALUES)
    words = next((f"`{one.name}` ({one.before}, then {one.after})" for one in changes), "")
    if not words and not _differ(first, second):
        return ()
    what = words or "memory on the device"
    return (
        f"prepare({_STEP}), called twice from the same state, leaves other values in {what}: {_MUST}",
    )


def changed_by_calls(
    changes: tuple[Change, ...],
    instance: Instance,
    start: Snapshot,
    backend: Backend,
    settings: Settings,
) -> tuple[Change, ...]:
    """Return those of `changes` that `prepare`, which runs before a replay too, does not make alone.

    `start`: the state to call it from, which is put back. Raises `CaseError` if it raises.
    """
    if instance.prepare is None or not changes:
        return changes
    with modes_of(instance.case, settings), instance.state.watching():
        prepare(instance, 0, backend, settings, is_again=True)
    prepared = {one.name for one in instance.state.changes(start, instance.state.save())}
    instance.state.restore(start)
    return tuple(one for one in changes if one.name not in prepared)


def _differ(first: Snapshot, second: Snapshot) -> bool:
    """Return whether storages that calls write hold other bytes."""
    with no_dispatch():
        return any(
            not torch.equal(_bytes(one.bytes), _bytes(second.storages[key].bytes))
            for key, one in first.storages.items()
            if key in second.storages
        )


def _bytes(storage: torch.UntypedStorage) -> torch.Tensor:
    whole = torch.empty(0, dtype=torch.uint8, device=storage.device)
    return whole.set_(storage)
