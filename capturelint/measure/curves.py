"""A figure by batch size: monotone, piecewise linear between the sizes that were measured."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Curve:
    """A figure that never falls as the batch grows.

    `sizes`: ascending, at least one; `values`: one for each, not descending.
    """

    sizes: tuple[int, ...]
    values: tuple[float, ...]

    def at(self, size: int) -> float:
        """Return the figure at `size`: on the line between its neighbours.

        Below the first size it is the first value, since what a small batch costs is what it costs to
        launch; above the last one it grows as it did before (with one size: not at all).
        """
        right = bisect_left(self.sizes, size)
        if right == 0 or len(self.sizes) == 1:
            return self.values[0]
        right = min(right, len(self.sizes) - 1)
        if self.sizes[right] == size:
            return self.values[right]
        low, high = self.sizes[right - 1], self.sizes[right]
        slope = (self.values[right] - self.values[right - 1]) / (high - low)
        return self.values[right - 1] + slope * (size - low)


def curve_of(values: Mapping[int, float]) -> Curve:
    """Return a figure by size, levelled. `values`: at least one."""
    sizes = tuple(sorted(values))
    return Curve(sizes, tuple(levelled([values[size] for size in sizes])))


def levelled(values: Sequence[float]) -> list[float]:
    """Return the nearest values, by least squares, that do not descend.

    Neighbours that descend are pooled and take their mean: "pool adjacent violators", Ayer, Brunk,
    Ewing, Reid and Silverman, Annals of Mathematical Statistics 26 (1955).
    """
    pools: list[tuple[float, int]] = []
    for value in values:
        mean, count = value, 1
        while pools and pools[-1][0] > mean:
            before, size = pools.pop()
            mean, count = (before * size + mean * count) / (size + count), size + count
        pools.append((mean, count))
    return [mean for mean, count in pools for _ in range(count)]
