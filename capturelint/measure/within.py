"""The best ladder within limits: dynamic programming over sizes, exact wherever it says so.

A label is a ladder so far: its time and what it takes of each limit. A label is dropped when another one
at the same size is no worse in anything, or when even the bound on how it can end (`prices.py`) is no
better than the best ladder known. Where there are too many labels the search stops, and the result says
how far it can be from the best.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

from capturelint.measure.ladder import SLACK
from capturelint.measure.moves import improved
from capturelint.measure.prices import Prices, Resource
from capturelint.measure.steps import Steps

_NODES = 512  # with more sizes there are too many edges
_EFFORT = 100_000  # labels that are looked at, about half a second

# Bound, time, what it takes, nodes.
_Label: TypeAlias = tuple[float, float, tuple[float, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A path within the limits. `gap`: the share of its time that a better one could save at most."""

    path: list[int]
    gap: float


def best_within(
    steps: Steps,
    resources: Sequence[Resource],
    *,
    by_count: Sequence[Sequence[int]] = (),
    known: Iterable[Sequence[int]] = (),
) -> Chosen:
    """Return the path of least time that takes no more than there is.

    `by_count`: the best path of at most 0, 1, 2, ... rungs, as far as known. `known`: more paths to beat.
    """
    found = Prices(steps, resources)
    found.paths += [list(path) for path in (*by_count, *known)]
    best = improved(steps, resources, found.best_path())
    bound = max(found.bound, _bound_by_count(steps, resources, by_count))
    if steps.time(best) > bound * (1 + SLACK):
        search = _Search(steps, resources, found, best)
        is_proven = len(steps.sizes) <= _NODES and search.run()
        best = improved(steps, resources, search.best)
        bound = steps.time(best) if is_proven else bound
    time = steps.time(best)
    gap = (time - bound) / time if time else 0.0
    return Chosen(best, gap if gap > SLACK else 0.0)


def _bound_by_count(
    steps: Steps, resources: Sequence[Resource], by_count: Sequence[Sequence[int]]
) -> float:
    """Return the time of the best path of as many rungs as fit at most, minus infinity if not known.

    That is the stronger bound where few rungs fit and all take about the same.
    """
    most = len(steps.sizes) - 1
    for one in resources:
        taken = list(accumulate(sorted(one.use[1:])))
        most = min(most, bisect_right(taken, one.limit * (1 + SLACK)))
    return steps.time(by_count[most]) if most < len(by_count) else -math.inf


class _Search:
    """Labels at one node after the other. `best`: the best path so far."""

    def __init__(
        self, steps: Steps, resources: Sequence[Resource], found: Prices, best: list[int]
    ) -> None:
        self.best = best
        self._steps = steps
        self._resources = resources
        self._least = steps.time(best) * (1 - SLACK)
        self._prices = found.prices
        self._worth = sum(p * one.limit for p, one in zip(found.prices, resources, strict=True))
        self._effort = _EFFORT

    def run(self) -> bool:
        """Improve `best`; return whether every ladder that could be better was looked at."""
        ways = self._ways()
        labels: list[list[_Label]] = [[] for _ in self._steps.sizes]
        labels[0] = [(-math.inf, 0.0, (0.0,) * len(self._resources), ())]
        for node in range(len(labels)):
            for label in self._kept(labels[node]):
                self._extend(node, label, ways[node], labels)
                if self._effort < 0:
                    return False
            labels[node] = []
        return True

    def _ways(self) -> list[list[tuple[float, int]]]:
        """Return, by node, the priced cost of the best way on over each edge, ascending, and where to."""
        steps, nodes = self._steps, len(self._steps.sizes)
        counts, graph = steps.counts, steps.graph
        pairs = list(zip(self._prices, self._resources, strict=True))
        rungs = [sum(p * one.use[node] for p, one in pairs) for node in range(nodes)]
        ways: list[list[tuple[float, int]]] = [[] for _ in range(nodes)]
        rest = [0.0] * nodes
        for node in range(nodes - 1, -1, -1):
            ways[node] = sorted(
                (graph[to] * (counts[to] - counts[node]) + rungs[to] + rest[to], to)
                for to in range(node + 1, nodes)
            )
            end = steps.above[node] + sum(p * one.last[node] for p, one in pairs)
            rest[node] = min(end, ways[node][0][0] if ways[node] else math.inf)
        return ways

    def _kept(self, labels: list[_Label]) -> list[_Label]:
        """Return the labels that no other one at the node makes needless."""
        kept: list[_Label] = []
        for label in sorted(labels, key=lambda one: one[1:3]):
            if label[0] >= self._least:
                continue
            self._effort -= len(kept) // 8
            taken = label[2]
            if not any(_is_within(other[2], taken) for other in kept):
                kept.append(label)
        return sorted(kept)

    def _extend(
        self,
        node: int,
        label: _Label,
        ways: list[tuple[float, int]],
        labels: list[list[_Label]],
    ) -> None:
        steps, resources = self._steps, self._resources
        _, time, had, path = label
        paid = time - self._worth
        paid += sum(p * one for p, one in zip(self._prices, had, strict=True))
        for rest, to in ways:
            if paid + rest >= self._least:
                return
            self._effort -= 1
            taken = tuple(some + one.use[to] for some, one in zip(had, resources, strict=True))
            if any(
                some + one.last[to] > one.limit * (1 + SLACK)
                for some, one in zip(taken, resources, strict=True)
            ):
                continue
            later = time + steps.graph[to] * (steps.counts[to] - steps.counts[node])
            labels[to].append((paid + rest, later, taken, (*path, to)))
            if later + steps.above[to] < self._least:
                self._least = (later + steps.above[to]) * (1 - SLACK)
                self.best = [*path, to]


def _is_within(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))
