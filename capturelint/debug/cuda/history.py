"""Who frees memory: the allocator's history of the frees that happen while it is kept.

`torch.cuda.memory` keeps and tells it by private names, alike in torch 2.6 to 2.13.
"""

# ruff: noqa: SLF001 - the history has no public name
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import torch

from capturelint.debug.dispatched.arguments import Device
from capturelint.debug.dispatched.launches import Launches, Memory
from capturelint.debug.frames import is_users_file, users_frames
from capturelint.verdict import Place

_MOST = 100_000  # events that are kept
# In this order: what asks for it, and what does it once other streams are done with the memory.
_FREES = ("free_requested", "free_completed")


class Reads(Launches):
    """Launches that note where memory lies that a call is given, by the user's line."""

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self._noted: list[tuple[tuple[str, int], int]] = []

    def addresses(self, line: tuple[str, int]) -> frozenset[int]:
        """Return those that a line is given. Lets go of the memory, which was kept until now."""
        self._older.clear()
        return frozenset(address for at, address in self._noted if at == line)

    def _memory(self, tensor: torch.Tensor) -> Memory:
        found = super()._memory(tensor)
        if found.origin == "older":
            place = next(iter(users_frames(limit=1)), Place("", 0))
            self._noted.append(((place.path, place.line), tensor.untyped_storage().data_ptr()))
        return found


def is_told() -> bool:
    """Return whether this torch keeps a history, and tells it."""
    return all(hasattr(torch.cuda.memory, name) for name in ("_record_memory_history", "_snapshot"))


def events_of(work: Callable[[], object]) -> list[Mapping[str, Any]]:
    """Return what the allocator of the current device does during `work`, in order."""
    memory: Any = torch.cuda.memory
    memory._record_memory_history("all", context="all", stacks="python", max_entries=_MOST)
    try:
        work()
        torch.cuda.synchronize()
        traces: list[list[Mapping[str, Any]]] = memory._snapshot()["device_traces"]
        return traces[torch.cuda.current_device()]
    finally:
        memory._record_memory_history(None)


def freed_at(events: Iterable[Mapping[str, Any]], addresses: Collection[int]) -> Place | None:
    """Return the user's line that first frees memory at one of `addresses`; None if none is seen.

    Each event has `action`, `addr` and `size` (bytes), and `frames` with `filename`, `line` and
    `name`, innermost first.
    """
    frees = [one for one in events if one["action"] in _FREES and _holds(one, addresses)]
    for one in sorted(frees, key=lambda event: _FREES.index(event["action"])):
        for frame in one.get("frames") or ():
            if is_users_file(frame["filename"]):
                return Place(frame["filename"], frame["line"], frame["name"])
    return None


def _holds(event: Mapping[str, Any], addresses: Collection[int]) -> bool:
    start, size = event["addr"], event["size"]
    return any(start <= address < start + size for address in addresses)
