"""Predict the memory of a whole ladder from a few sizes that were captured alone.

Graphs share one pool, captured from the largest down: the largest decides what it takes, and each
graph adds what it takes itself (its nodes, its executable form). Both are linear between sizes. How
the allocator rounds (2 MiB for expandable segments, up to 20 MiB for others) is in the figures, so
that those of one kind of allocator say nothing of the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from capturelint.measure.curves import curve_of

SETTING = "expandable_segments"


@dataclass(frozen=True, slots=True)
class Alone:
    """MiB that one size takes alone: `own`, of the graph itself, and `pool`."""

    own: float
    pool: float


def chosen(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the two or three of `sizes`, ascending, to predict from: the ends and the middle."""
    if len(sizes) <= 2:
        return tuple(sizes)
    return tuple(sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]}))


def predicted(known: Mapping[int, Alone], sizes: Sequence[int]) -> float:
    """Return the MiB of graphs of all `sizes` in one pool. `known`: at least one size, alone."""
    own, pool = (
        curve_of({size: getattr(one, part) for size, one in known.items()})
        for part in ("own", "pool")
    )
    return sum(own.at(size) for size in sizes) + pool.at(max(sizes))


def segments(allocator: str) -> str:
    """Return `on` or `off`: whether an allocator's settings ask for expandable segments."""
    words = allocator.replace(" ", "").lower()
    return "on" if f"{SETTING}:true" in words else "off"
