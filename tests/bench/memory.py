"""Watch from outside what memory other processes take: that of the device, or resident memory."""

from __future__ import annotations

import os
import resource
import threading
from pathlib import Path

import torch

MIB = 1 << 20
_EVERY = 0.005  # seconds between looks


class _Watch:
    """Looks every `every` seconds until it is left. `peak`: the largest figure seen, in MiB."""

    def __init__(self, every: float) -> None:
        self.peak = 0.0
        self._every = every
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._poll)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_done.set()
        self._thread.join()

    def _poll(self) -> None:
        while not self._is_done.wait(self._every):
            self.peak = max(self.peak, self._figure())

    def _figure(self) -> float:
        raise NotImplementedError


class Polled(_Watch):
    """What all processes together have in use of the device, above what was before. `peak`: MiB."""

    def __init__(self) -> None:
        super().__init__(_EVERY)
        self._before = self._used()

    def _figure(self) -> float:
        return self._used() - self._before

    @staticmethod
    def _used() -> float:
        free, total = torch.cuda.mem_get_info()
        return (total - free) / MIB


class Resident(_Watch):
    """The largest resident memory of a process and what it started. `peak`: MiB."""

    def __init__(self) -> None:
        super().__init__(_EVERY * 4)

    def _figure(self) -> float:
        return sum(resident(pid) for pid in _below(os.getpid()))


def _below(pid: int) -> list[int]:
    """Return the processes that one started, and those that these did. Linux only."""
    found: list[int] = []
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(word) for word in tasks.read_text().split()]
        except OSError:  # it has ended meanwhile
            continue
        for child in children:
            found += [child, *_below(child)]
    return found


def resident(pid: int | str) -> float:
    """Return the MiB that a process has in memory, 0 if it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):  # it has ended meanwhile
        return 0.0
    return pages * resource.getpagesize() / MIB
