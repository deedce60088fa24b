"""Limits as prices: a lower bound for every ladder within them, and good ladders on the way.

Each limited thing (graphs, seconds, MiB) gets a price; the cheapest path with prices, less what the
limits are worth, is no dearer than any path within the limits (Lagrangian relaxation). One price is
found exactly by the method of Handler and Zang, "A dual algorithm for the constrained shortest path
problem", Networks 10 (1980); several then move together along subgradients with Polyak's step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from capturelint.measure.hull import relaxed
from capturelint.measure.ladder import SLACK
from capturelint.measure.steps import Steps

_PASSES = 24  # relaxations for one price; it seldom takes more than ten
_MOVES = 40  # relaxations for several


@dataclass(frozen=True, slots=True)
class Resource:
    """Something limited: what a rung at each node takes of it, and the last rung besides.

    `last` does not fall from node to node. `limit`: more than 0.
    """

    use: list[float]
    last: list[float]
    limit: float

    def of(self, path: Sequence[int]) -> float:
        """Return how much a path takes."""
        return math.fsum(self.use[node] for node in path) + (self.last[path[-1]] if path else 0.0)

    def allows(self, path: Sequence[int]) -> bool:
        """Return whether a path takes no more than there is."""
        return self.of(path) <= self.limit * (1 + SLACK)


class Prices:
    """The search for prices whose bound is high; with several not always the highest there is.

    `prices`, `bound`: the best so far, in the time of all steps. `paths`: what was met on the way.
    """

    def __init__(self, steps: Steps, resources: Sequence[Resource]) -> None:
        self.prices = [0.0] * len(resources)
        self.bound = -math.inf
        self.paths: list[list[int]] = [[]]
        self._steps = steps
        self._resources = resources
        for index in range(len(resources)):
            self._find_one(index)
        if len(resources) > 1:
            self._find_all()

    def best_path(self) -> list[int]:
        """Return the path of least time, of those met, that is within all limits."""
        allowed = (p for p in self.paths if all(one.allows(p) for one in self._resources))
        return min(allowed, key=self._steps.time)

    def _find_one(self, index: int) -> None:
        """Find the best price of one resource while the others cost nothing."""
        resource, prices = self._resources[index], [0.0] * len(self._resources)
        high: list[int] = []
        low = self._cheapest(prices)
        for _ in range(_PASSES):
            more, less = resource.of(low), resource.of(high)
            if more <= resource.limit:
                return
            prices[index] = (self._steps.time(high) - self._steps.time(low)) / (more - less)
            path = self._cheapest(prices)
            if path in (low, high):
                return
            if resource.of(path) > resource.limit:
                low = path
            else:
                high = path

    def _find_all(self) -> None:
        """Move all prices from the best so far."""
        least = self._steps.time(self.best_path())
        prices = list(self.prices)
        for _ in range(_MOVES):
            path = self._cheapest(prices)
            over = [one.of(path) / one.limit - 1 for one in self._resources]
            length = sum(value * value for value in over)
            if not length or self.bound >= least * (1 - SLACK):
                return
            step = (least - self.bound) / length
            prices = [
                max(0.0, price + step * value / one.limit)
                for price, value, one in zip(prices, over, self._resources, strict=True)
            ]

    def _cheapest(self, prices: Sequence[float]) -> list[int]:
        """Return the cheapest path at these prices; keep it, and the prices if their bound is higher."""
        steps, nodes = self._steps, range(len(self._steps.sizes))
        pairs = [(p, one) for p, one in zip(prices, self._resources, strict=True) if p]
        rungs = [sum(price * one.use[node] for price, one in pairs) for node in nodes]
        values, before = relaxed(steps, None, rungs)
        ends = [
            values[node] + steps.above[node] + sum(price * one.last[node] for price, one in pairs)
            for node in nodes
        ]
        end = min(nodes, key=ends.__getitem__)
        bound = ends[end] - sum(price * one.limit for price, one in pairs)
        if bound > self.bound:
            self.bound, self.prices = bound, list(prices)
        path = []
        while end:
            path.append(end)
            end = before[end]
        self.paths.append(path[::-1])
        return self.paths[-1]
