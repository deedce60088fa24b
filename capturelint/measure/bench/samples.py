"""Statistics of interleaved samples: percentiles, and the ratio of steps that ran next to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """The 10th, 50th and 90th percentile of samples."""

    p10: float
    p50: float
    p90: float


def percentile(samples: Sequence[float], share: float) -> float:
    """Return the value below which `share` (0 to 1) of the samples lie, linear between neighbours."""
    ordered = sorted(samples)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def spread(samples: Sequence[float]) -> Spread:
    """Return the percentiles of samples, at least one."""
    return Spread(*(percentile(samples, share) for share in (0.1, 0.5, 0.9)))


def speedup(before: Sequence[float], after: Sequence[float]) -> Spread:
    """Return how many times faster `after` is, step for step.

    The two ran in turn, so that a drift of clocks or of the host is in both of a pair.
    """
    return spread([one / other for one, other in zip(before, after, strict=True)])
