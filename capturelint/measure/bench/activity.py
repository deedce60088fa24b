"""What a profile says of one step: kernels, launches, and how long the GPU was busy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from capturelint.measure.bench.result import Activity

# What the host calls to put work on the device, as CUPTI names it (CUDA 12 and 13).
_LAUNCHES = (
    *("cudaLaunchKernel", "cuLaunchKernel", "cudaGraphLaunch", "cuGraphLaunch"),
    *("cudaMemcpy", "cuMemcpy", "cudaMemset", "cuMemset"),
    *("cudaLaunchCooperativeKernel", "cuLaunchCooperativeKernel"),
)


def activity_of(events: Iterable[Any]) -> Activity | None:
    """Return what the events of a profile say, None where they hold nothing of the device.

    Each has `name`, `device_type` and `time_range` (`start`, `end`: microseconds).
    """
    runs: list[tuple[float, float]] = []
    kernels = launches = 0
    for event in events:
        if event.device_type.name == "CUDA":
            if getattr(event, "is_user_annotation", False):
                continue
            runs.append((event.time_range.start, event.time_range.end))
            kernels += not event.name.startswith(("Memcpy", "Memset"))
        else:
            launches += event.name.startswith(_LAUNCHES)
    if not runs:
        return None
    return Activity(kernels, launches, _covered(runs) / 1000)


def _covered(runs: list[tuple[float, float]]) -> float:
    """Return how long at least one of the runs (start, end) goes on."""
    covered, until = 0.0, float("-inf")
    for start, end in sorted(runs):
        covered += max(0.0, end - max(start, until))
        until = max(until, end)
    return covered
