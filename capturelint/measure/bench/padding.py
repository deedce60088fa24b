"""What rounding up to the next rung wastes, between the rungs that were measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Waste:
    """Steps of `low` to `high` rows that run on the rung `high`.

    `most`, `mean`: share of pad rows, in the smallest of them and over all alike. `extra_ms`: what
    the smallest takes longer than the rung below it, at most what is wasted.
    """

    low: int
    high: int
    most: float
    mean: float
    extra_ms: float | None


def wastes(times: Mapping[int, float]) -> tuple[Waste, ...]:
    """Return the waste of each rung. `times`: ms of a step by rung."""
    found = []
    below = 0
    for rung in sorted(times):
        sizes = range(below + 1, rung + 1)
        extra = times[rung] - times[below] if below else None
        mean = sum(rung - size for size in sizes) / (rung * len(sizes))
        found.append(Waste(sizes[0], rung, (rung - sizes[0]) / rung, mean, extra))
        below = rung
    return tuple(found)
