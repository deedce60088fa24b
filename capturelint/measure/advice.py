"""Which sizes to capture for a traffic, next to the ladders that are captured by custom."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from capturelint.errors import CapturelintError
from capturelint.measure import engines
from capturelint.measure.by_count import best_by_count
from capturelint.measure.ladder import (
    SLACK,
    Ladder,
    Limits,
    ladder,
    largest_rung,
    memory,
    startup,
)
from capturelint.measure.prices import Resource
from capturelint.measure.steps import Steps, steps_of
from capturelint.measure.times import Costs
from capturelint.measure.traffic import Traffic
from capturelint.measure.within import best_within

# Without limits nobody wants more graphs: vLLM and SGLang capture about 50 up to 512 rows.
MOST_RUNGS = 64
_SHOWN_COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


class NothingToCaptureError(CapturelintError):
    """No step of the traffic can run as a graph."""


@dataclass(frozen=True, slots=True)
class Customary:
    """A ladder that is captured by custom. `enough`: rungs of a best ladder that is no slower, or None."""

    name: str
    ladder: Ladder
    enough: int | None


@dataclass(frozen=True, slots=True)
class Drop:
    """A rung that could go: by which share a step gets slower, and what is saved (None: not known)."""

    size: int
    slower: float
    startup: float | None
    memory: float | None


@dataclass(frozen=True, slots=True)
class Advice:
    """What to capture and what that is worth.

    `best`: the ladder within the limits; `gap`: the share of its step time that a better one could save
    at most, 0 if it is the best there is. `every`: a graph for each size that a step needs. `choices`:
    the best ladders of some numbers of rungs. `drops`: the rungs of `best`, the cheapest to drop first.
    `largest`: the largest size that may be captured, in rows. `above`, `rounded`: share of steps that are
    larger, and that do not fill whole requests.
    """

    best: Ladder
    gap: float
    customary: tuple[Customary, ...]
    every: Ladder
    choices: tuple[Ladder, ...]
    drops: tuple[Drop, ...]
    traffic: Traffic
    costs: Costs
    limits: Limits
    largest: int
    rows_per_request: int
    above: float
    rounded: float


def advise(
    traffic: Traffic, costs: Costs, *, largest: int | None, rows_per_request: int, limits: Limits
) -> Advice:
    """Return what to capture of up to `largest` rows (None: up to the largest step).

    Without any limit, the fewest rungs with which no customary ladder is faster, or `MOST_RUNGS`. Raises
    `NothingToCaptureError`.
    """
    wanted = traffic.counts[-1][0] + rows_per_request - 1 if largest is None else largest
    top = largest_rung(wanted, rows_per_request)
    steps = steps_of(traffic, costs, largest=top, rows_per_request=rows_per_request)
    if len(steps.sizes) == 1:
        problem = (
            f"no step has {top} rows or fewer; the smallest has {traffic.counts[0][0]}"
            if top
            else f"no request of {rows_per_request} rows fits"
        )
        raise NothingToCaptureError(f"{problem}; raise --max")
    by_custom = _customary(top, rows_per_request)
    by_count = best_by_count(steps, most=max(MOST_RUNGS, limits.rungs or 0))
    path, gap = _best(
        steps,
        costs,
        limits,
        by_count=by_count,
        customary=[steps.path(sizes) for _, sizes in by_custom],
    )
    times = [steps.time(one) / traffic.steps for one in by_count]
    customary = [(name, ladder(sizes, traffic, costs)) for name, sizes in by_custom]
    return Advice(
        best=ladder(steps.ladder(path), traffic, costs),
        gap=gap,
        customary=tuple(Customary(name, one, _enough(times, one.step)) for name, one in customary),
        every=ladder(steps.sizes[1:], traffic, costs),
        choices=tuple(
            ladder(steps.ladder(by_count[count]), traffic, costs)
            for count in _SHOWN_COUNTS
            if count < len(by_count)
        ),
        drops=_drops(steps, path, costs),
        traffic=traffic,
        costs=costs,
        limits=limits,
        largest=top,
        rows_per_request=rows_per_request,
        above=_share(traffic, (size for size, _ in traffic.counts if size > top)),
        rounded=_share(traffic, (size for size, _ in traffic.counts if size % rows_per_request)),
    )


def _customary(largest: int, rows_per_request: int) -> list[tuple[str, list[int]]]:
    return [
        ("powers of two", engines.powers_of_two(largest, rows_per_request)),
        (engines.VLLM, engines.vllm_sizes(largest, rows_per_request)),
        (engines.SGLANG, engines.sglang_sizes(largest, rows_per_request)),
    ]


def _best(
    steps: Steps,
    costs: Costs,
    limits: Limits,
    *,
    by_count: Sequence[list[int]],
    customary: Sequence[list[int]],
) -> tuple[list[int], float]:
    """Return the path within the limits and its gap."""
    resources = _resources(steps, costs, limits)
    if resources:
        chosen = best_within(steps, resources, by_count=by_count, known=customary)
        return chosen.path, chosen.gap
    if limits.rungs is not None:
        return by_count[min(limits.rungs, len(by_count) - 1)], 0.0
    enough = _enough(list(map(steps.time, by_count)), min(map(steps.time, customary)))
    return by_count[-1 if enough is None else enough], 0.0


def _resources(steps: Steps, costs: Costs, limits: Limits) -> list[Resource]:
    """Return what is limited; nothing where only the number of rungs is."""
    sizes, nothing = steps.sizes[1:], [0.0] * len(steps.sizes)
    resources = []
    if limits.startup is not None:
        assert costs.capture is not None  # the command asks for it
        seconds = [costs.capture.at(size) / 1000 for size in sizes]
        resources.append(Resource([0.0, *seconds], nothing, limits.startup))
    if limits.memory is not None:
        assert costs.memory is not None  # the command asks for it
        pool = [0.0 if costs.pool is None else costs.pool.at(size) for size in sizes]
        graphs = [costs.memory.at(size) for size in sizes]
        resources.append(Resource([0.0, *graphs], [0.0, *pool], limits.memory))
    if resources and limits.rungs is not None:
        resources.append(Resource([0.0] + [1.0] * len(sizes), nothing, float(limits.rungs)))
    return resources


def _enough(times: Sequence[float], time: float) -> int | None:
    """Return the fewest rungs whose best time is no longer, None if even the most are slower."""
    return next((n for n, best in enumerate(times) if best <= time * (1 + SLACK)), None)


def _drops(steps: Steps, path: Sequence[int], costs: Costs) -> tuple[Drop, ...]:
    time = steps.time(path)
    full = steps.ladder(path)
    drops = []
    for node in path:
        rest = [one for one in path if one != node]
        left = steps.ladder(rest)
        drops.append(
            Drop(
                size=steps.sizes[node],
                slower=steps.time(rest) / time - 1,
                startup=_difference(startup(full, costs), startup(left, costs)),
                memory=_difference(memory(full, costs), memory(left, costs)),
            )
        )
    return tuple(sorted(drops, key=lambda drop: (drop.slower, drop.size)))


def _difference(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _share(traffic: Traffic, sizes: Iterable[int]) -> float:
    """Return the share of steps that have one of these sizes."""
    chosen = set(sizes)
    return math.fsum(n for size, n in traffic.counts if size in chosen) / traffic.steps
