"""The choice of rungs as paths: nodes are sizes in ascending order, an edge is the next rung up.

Only sizes that some step needs are worth a rung, since no cost falls as a size grows: node 0 is "no rung
yet", node j the j-th such size. The edge from i to j costs the steps above i and up to j at the time of
a graph of j, and a path that ends at j adds the eager time of all steps above it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from capturelint.measure.ladder import rung_for
from capturelint.measure.times import Costs
from capturelint.measure.traffic import Traffic


@dataclass(frozen=True, slots=True)
class Steps:
    """The nodes of the choice; each list has an entry for node 0 and one for each size.

    `sizes`: rows, 0 at node 0. `counts`: steps up to and with the size. `graph`: time of a replay, not
    falling. `above`: eager time of all steps above the size. All times are sums over steps.
    """

    sizes: list[int]
    counts: list[float]
    graph: list[float]
    above: list[float]

    def path(self, sizes: Sequence[int]) -> list[int]:
        """Return the nodes of the ladder that serves as many steps as `sizes` does, at most as dear.

        Each size moves down to the largest one that a step needs.
        """
        return sorted({bisect_right(self.sizes, size) - 1 for size in sizes} - {0})

    def time(self, path: Sequence[int]) -> float:
        """Return the time of all steps with rungs at these nodes, ascending."""
        starts = (0, *path)
        parts = [
            self.graph[j] * (self.counts[j] - self.counts[i])
            for i, j in zip(starts, path, strict=False)
        ]
        return math.fsum(parts) + self.above[starts[-1]]

    def ladder(self, path: Sequence[int]) -> tuple[int, ...]:
        """Return the sizes at these nodes."""
        return tuple(self.sizes[node] for node in path)


def steps_of(traffic: Traffic, costs: Costs, *, largest: int, rows_per_request: int) -> Steps:
    """Return the nodes for rungs of whole requests, up to `largest` rows."""
    counts: dict[int, float] = {}
    eager: dict[int, float] = {}
    for size, count in traffic.counts:
        rung = rung_for(size, rows_per_request)
        counts[rung] = counts.get(rung, 0) + count
        eager[rung] = eager.get(rung, 0) + count * costs.eager.at(size)
    sizes = [0, *(size for size in sorted(counts) if size <= largest)]
    total, passed = math.fsum(eager.values()), [0.0]
    reached = [0.0]
    for size in sizes[1:]:
        reached.append(reached[-1] + counts[size])
        passed.append(passed[-1] + eager[size])
    return Steps(
        sizes=sizes,
        counts=reached,
        graph=[0.0, *(costs.graph.at(size) for size in sizes[1:])],
        above=[total - spent for spent in passed],
    )
