"""What a ladder of captured batch sizes costs on a traffic; knows nothing of torch.

A step runs as the graph of the next size up, its unused rows are pad rows; above the largest size it
runs eagerly, without padding. That is how vLLM and SGLang dispatch.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from capturelint.measure.times import Costs
from capturelint.measure.traffic import Traffic


@dataclass(frozen=True, slots=True)
class Ladder:
    """Captured sizes, ascending, with what they cost on a traffic.

    `step`: expected time of a step, in the unit of the costs. `padded`: pad rows as a share of all rows
    that are computed. `eager`: share of steps that no graph serves. `startup`: seconds to capture;
    `memory`: MiB; both None where the costs do not say. `unused`: sizes that no step runs on.
    """

    sizes: tuple[int, ...]
    step: float
    padded: float
    eager: float
    startup: float | None
    memory: float | None
    unused: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a ladder may cost at most. None is no limit. `startup`: seconds; `memory`: MiB."""

    rungs: int | None = None
    startup: float | None = None
    memory: float | None = None

    def allow(self, ladder: Ladder) -> bool:
        """Return whether a ladder is within the limits; what is not known is not."""
        pairs = (
            (self.rungs, len(ladder.sizes)),
            (self.startup, ladder.startup),
            (self.memory, ladder.memory),
        )
        return all(
            limit is None or (cost is not None and cost <= limit * (1 + SLACK))
            for limit, cost in pairs
        )


# Sums of the same numbers in another order differ by so much, relatively.
SLACK = 1e-12


def ladder(sizes: Sequence[int], traffic: Traffic, costs: Costs) -> Ladder:
    """Return what capturing `sizes` (ascending, each once, may be empty) costs on a traffic."""
    used: set[int] = set()
    times: list[float] = []
    rows = pads = eager = 0.0
    for size, count in traffic.counts:
        place = bisect_left(sizes, size)
        if place == len(sizes):
            times.append(count * costs.eager.at(size))
            rows, eager = rows + count * size, eager + count
            continue
        rung = sizes[place]
        used.add(rung)
        times.append(count * costs.graph.at(rung))
        rows, pads = rows + count * rung, pads + count * (rung - size)
    return Ladder(
        sizes=tuple(sizes),
        step=math.fsum(times) / traffic.steps,
        padded=pads / rows,
        eager=eager / traffic.steps,
        startup=startup(sizes, costs),
        memory=memory(sizes, costs),
        unused=tuple(size for size in sizes if size not in used),
    )


def startup(sizes: Sequence[int], costs: Costs) -> float | None:
    """Return the seconds that capturing these sizes takes, None where the costs do not say."""
    if costs.capture is None:
        return None
    return math.fsum(costs.capture.at(size) for size in sizes) / 1000


def memory(sizes: Sequence[int], costs: Costs) -> float | None:
    """Return the MiB that graphs of these sizes hold, None where the costs do not say.

    The scratch memory is that of the largest, as all are captured into one pool.
    """
    if costs.memory is None:
        return None
    pool = costs.pool.at(sizes[-1]) if costs.pool is not None and sizes else 0.0
    return math.fsum(costs.memory.at(size) for size in sizes) + pool


def largest_rung(largest: int, rows_per_request: int) -> int:
    """Return the largest size of whole requests within `largest` rows; 0 when none fits."""
    return largest // rows_per_request * rows_per_request


def rung_for(size: int, rows_per_request: int) -> int:
    """Return the rows of the whole requests that `size` rows take."""
    return -(-size // rows_per_request) * rows_per_request
