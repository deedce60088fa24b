"""What the host holds at each call, the same for eager calls and for replays."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from types import ModuleType
from unittest import mock

import numpy as np
import torch

# Sizes in elements of float32 that a stale read of freed memory may land on.
_SIZES = (1, 2, 16, 128, 2048)


class World:
    """The host's clock, generators and free memory, as functions of the number of the call."""

    def __init__(self) -> None:
        self.call = 0

    def at(self, call: int) -> None:
        """Go to the moment of one call: seed all generators, and overwrite memory that is free."""
        self.call = call
        random.seed(call)
        np.random.seed(call)
        torch.manual_seed(call)
        _overwrite_free_memory()

    def time(self) -> float:
        """Return seconds since the epoch: an hour and a third later at each call."""
        return 1.8e9 + 4751.37 * self.call

    def now(self) -> datetime:
        """Return the same moment as `time`."""
        return datetime.fromtimestamp(self.time())

    def memory_allocated(self) -> int:
        """Return bytes: at every second call more than 1 GiB."""
        return (self.call % 2) << 31


@contextmanager
def scripted() -> Iterator[World]:
    """Return a context in which Python's clock and torch's memory are those of the world."""
    world = World()
    memory = mock.patch.object(torch.cuda, "memory_allocated", world.memory_allocated)
    with mock.patch.object(time, "time", world.time), memory:
        yield world


def with_clock(module: ModuleType, world: World) -> ModuleType:
    """Return the module; where it has a class `datetime`, that now asks the world."""

    class Scripted(datetime):
        @classmethod
        def now(cls, _zone: object = None) -> datetime:  # type: ignore[override]
            return world.now()

    if hasattr(module, "datetime"):
        vars(module)["datetime"] = Scripted
    return module


def _overwrite_free_memory() -> None:
    for device, is_pinned in (("cpu", True), ("cuda", False)):
        held = [
            torch.full((size,), 77.0, device=device, pin_memory=is_pinned)
            for size in _SIZES
            for _ in range(4)
        ]
        del held
