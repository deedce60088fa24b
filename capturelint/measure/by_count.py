"""The best ladder of each number of rungs: exact dynamic programming over the sizes that steps need."""

from __future__ import annotations

import math

from capturelint.measure.hull import relaxed
from capturelint.measure.ladder import SLACK
from capturelint.measure.steps import Steps


def best_by_count(steps: Steps, *, most: int, enough: float = -math.inf) -> list[list[int]]:
    """Return, for 0, 1, 2, ... rungs, the path of least time among those of that many or fewer.

    Ends with `most` rungs, or before: when one more gains nothing, or at the first that takes no more
    than `enough`, the time of all steps. Of equal times the path with fewer rungs stands. The time is
    that of `most` relaxations.
    """
    best: list[list[int]] = [[]]
    times = [steps.time([])]
    values = [0.0] + [math.inf] * (len(steps.sizes) - 1)
    layers: list[list[int]] = []
    for count in range(1, min(most, len(steps.sizes) - 1) + 1):
        if times[-1] <= enough:
            break
        values, before = relaxed(steps, values)
        layers.append(before)
        ends = range(count, len(values))
        end = min(ends, key=lambda node: values[node] + steps.above[node])
        path = _path(layers, end)
        time = steps.time(path)
        is_better = time < times[-1] * (1 - SLACK)
        best.append(path if is_better else best[-1])
        times.append(min(time, times[-1]))
    while len(best) > 1 and best[-1] == best[-2]:
        best.pop()
    return best


def _path(layers: list[list[int]], end: int) -> list[int]:
    """Return the nodes that lead to `end`, over one layer for each."""
    path = []
    for before in reversed(layers):
        path.append(end)
        end = before[end]
    return path[::-1]
