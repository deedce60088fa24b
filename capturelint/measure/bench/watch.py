"""What the phases of building graphs take: time and memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from capturelint.measure.bench.meter import Meter


class Watch:
    """Adds up what phases take: `ms` of warm-ups and captures; MiB of captures, `free` and `pool`."""

    def __init__(self, meter: Meter, *, only: int | None = None) -> None:
        self._meter = meter
        self._only = only
        self.ms = self.free = self.pool = 0.0

    @contextmanager
    def __call__(self, size: int, _name: str, phase: str) -> Iterator[None]:
        """Watch one phase of one size."""
        if self._only not in (None, size):
            yield
            return
        before = self._meter.memory()
        start = self._meter.now()
        yield
        self.ms += self._meter.now() - start
        after = self._meter.memory()
        if phase == "capture":
            self.free += before.free - after.free
            self.pool += after.reserved - before.reserved
