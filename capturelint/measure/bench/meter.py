"""What the measuring edge offers: steps by the device's clock, what ran in them, and memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from capturelint.measure.bench.result import Activity


@dataclass(frozen=True, slots=True)
class Sample:
    """One step: ms on the device, and ms until the host was done issuing it."""

    step: float
    issue: float


@dataclass(frozen=True, slots=True)
class Memory:
    """MiB: `free` on the device, and `reserved` by the allocator of torch."""

    free: float
    reserved: float


class Meter(Protocol):
    """A device that is measured. Each method waits until the device is idle before and after."""

    def sample(self, call: Callable[[], object]) -> Sample:
        """Return what one call takes."""

    def activity(self, call: Callable[[], object]) -> Activity | None:
        """Return what one call does on the device, None where that cannot be seen."""

    def memory(self) -> Memory:
        """Return what is taken, after giving back what nothing uses."""

    def now(self) -> float:
        """Return ms of the host's clock."""
