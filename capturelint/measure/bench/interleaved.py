"""Run several ways of a step in turn, so that what drifts meanwhile is in all of them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping

from capturelint.measure.bench.meter import Meter
from capturelint.measure.bench.result import Timing, Way

# Step k, from 0: the ways run on the same inputs.
Step = Callable[[int], object]


def timings(
    ways: Mapping[Way, Step], meter: Meter, *, repeats: int, warmup: int
) -> dict[Way, Timing]:
    """Return `repeats` samples of each way, after `warmup` steps that are not counted."""
    steps: dict[Way, list[float]] = {way: [] for way in ways}
    issue: dict[Way, list[float]] = {way: [] for way in ways}
    was_on = gc.isenabled()
    gc.disable()
    try:
        for number in range(warmup + repeats):
            # Each goes first every other time: none always runs after the same.
            order = list(ways)[:: 1 if number % 2 == 0 else -1]
            for way in order:
                run = ways[way]
                sample = meter.sample(lambda run=run, number=number: run(number))  # type: ignore[misc]
                if number >= warmup:
                    steps[way].append(sample.step)
                    issue[way].append(sample.issue)
    finally:
        if was_on:
            gc.enable()
    return {
        way: Timing(tuple(steps[way]), tuple(issue[way]), meter.activity(lambda run=run: run(0)))  # type: ignore[misc]
        for way, run in ways.items()
    }
