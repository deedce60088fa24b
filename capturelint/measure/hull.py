"""One relaxation of the choice of rungs, in time linear in the number of sizes.

Reaching node j over i costs `values[i] + graph[j] * (counts[j] - counts[i])`: for each i a line in
`graph[j]`. Counts rise and `graph` does not fall, so the lines that can be the lowest are the lower
convex hull of the points (counts, values), and the best one only moves on ("convex hull trick").
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from capturelint.measure.steps import Steps


def relaxed(
    steps: Steps, values: Sequence[float] | None, prices: Sequence[float] | None = None
) -> tuple[list[float], list[int]]:
    """Return the least cost of a path to each node and the node before it there.

    `values`: the costs with one rung less, infinite where no path leads; None for paths of any number
    of rungs. `prices`: of a rung at each node, added to its cost; None is nothing.
    """
    counts, graph = steps.counts, steps.graph
    best = [math.inf] * len(counts)
    before = [0] * len(counts)
    if values is None:
        best[0] = 0.0
        values = best
    hull: list[int] = []
    first = 0
    for node in range(1, len(counts)):
        value = values[node - 1]
        if value < math.inf:
            count = counts[node - 1]
            while len(hull) - first >= 2:
                a, b = hull[-2], hull[-1]
                if (value - values[b]) * (counts[b] - counts[a]) > (values[b] - values[a]) * (
                    count - counts[b]
                ):
                    break
                hull.pop()
            hull.append(node - 1)
        if first == len(hull):
            continue
        slope = graph[node]
        line = values[hull[first]] - slope * counts[hull[first]]
        while first + 1 < len(hull):
            following = values[hull[first + 1]] - slope * counts[hull[first + 1]]
            if following > line:
                break
            first, line = first + 1, following
        best[node] = line + slope * counts[node] + (prices[node] if prices else 0.0)
        before[node] = hull[first]
    return best, before
