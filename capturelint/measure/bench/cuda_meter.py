"""Measure on a GPU: events around a step, torch's profiler inside of one, and the driver's free memory."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch

from capturelint.measure.bench.activity import activity_of
from capturelint.measure.bench.meter import Memory, Sample
from capturelint.measure.bench.result import Activity

_MIB = 1 << 20
_TICK = 0.0005  # ms, of events; no step takes less, and speedups divide by it


class CudaMeter:
    """The current device."""

    def __init__(self) -> None:
        self._start: Any = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        self._end: Any = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
        # What traces graphs must be there before they are captured.
        self.activity(lambda: torch.ones(1, device="cuda"))

    def sample(self, call: Callable[[], object]) -> Sample:
        """Return what one call takes, by events on the current stream."""
        torch.cuda.synchronize()
        self._start.record()
        before = time.perf_counter()
        call()
        issue = time.perf_counter() - before
        self._end.record()
        self._end.synchronize()
        return Sample(max(_TICK, self._start.elapsed_time(self._end)), 1000 * issue)

    def activity(self, call: Callable[[], object]) -> Activity | None:
        """Return the kernels and copies that one call runs, seen by torch's profiler."""
        from torch.profiler import ProfilerActivity, profile

        torch.cuda.synchronize()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of traces that are kept for nobody
            with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
                call()
                torch.cuda.synchronize()
        return activity_of(profiler.events() or ())

    def memory(self) -> Memory:
        """Return what is taken, after giving back what nothing uses."""
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        free, _ = torch.cuda.mem_get_info()
        return Memory(free / _MIB, torch.cuda.memory_reserved() / _MIB)

    def now(self) -> float:
        """Return ms of the host's clock, the device idle."""
        torch.cuda.synchronize()
        return 1000 * time.perf_counter()
