"""Made-up figures of bench, and a meter for where there is no device."""

from __future__ import annotations

import time
from collections.abc import Callable

from capturelint.measure.bench.meter import Memory, Sample
from capturelint.measure.bench.result import Activity, Bench, Cost, Size, Timing, Way, Whole

ENVIRONMENT = {
    "device": "made up",
    "torch": "2.11.0",
    "driver": "1",
    "expandable segments": "off",
    "date": "2026-11-30",
}


def timing(*steps: float, busy: float | None = 1.0, kernels: int = 7, launches: int = 7) -> Timing:
    activity = None if busy is None else Activity(kernels, launches, busy)
    return Timing(steps, tuple(step / 2 for step in steps), activity)


def size(rows: int, eager: float, graph: float, *, wrong: str = "") -> Size:
    """Return a size whose steps vary by 10 % in pairs; `wrong`: its graph is, and was not timed."""
    ways = {Way.EAGER: timing(eager, 1.1 * eager)}
    if not wrong:
        ways[Way.GRAPH] = timing(graph, 1.1 * graph, launches=1)
    cost = None if wrong else Cost(50.0, 6.0, 4.0)
    return Size(rows, ways, {Way.GRAPH: wrong} if wrong else {}, cost, None if wrong else 0.01)


def bench(*sizes: Size, eager: tuple[str, ...] = ()) -> Bench:
    whole = Whole((1, 4), 10.0, 8.0, 4.0)
    return Bench("case.py:make", sizes, ENVIRONMENT, whole, eager, ("held: x",))


class HostMeter:
    """Measures by the host's clock; memory grows by 2 MiB, of it 1 of pool, with each look."""

    def __init__(self) -> None:
        self._looks = 0

    def sample(self, call: Callable[[], object]) -> Sample:
        before = time.perf_counter()
        call()
        spent = 1000 * (time.perf_counter() - before)
        return Sample(spent, spent)

    def activity(self, call: Callable[[], object]) -> Activity | None:
        call()
        return None

    def memory(self) -> Memory:
        self._looks += 1
        return Memory(free=10_000.0 - 2 * self._looks, reserved=100.0 + self._looks)

    def now(self) -> float:
        return 1000 * time.perf_counter()
