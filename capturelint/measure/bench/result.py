"""What `bench` found: steps, what ran in them, what capturing cost, and whether replays are right."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from capturelint.measure.bench.samples import Spread, speedup, spread

UNDECIDED = "undecided"  # how a reason begins that is no verdict


class Way(Enum):
    """How a step runs."""

    EAGER = "eager"
    GRAPH = "graph"
    COMPILED = "compiled"
    COMPILED_GRAPH = "compiled graph"

    @property
    def is_graph(self) -> bool:
        """Return whether graphs run."""
        return self in (Way.GRAPH, Way.COMPILED_GRAPH)

    @property
    def without(self) -> Way:
        """Return the same way without graphs."""
        return {Way.GRAPH: Way.EAGER, Way.COMPILED_GRAPH: Way.COMPILED}.get(self, self)


@dataclass(frozen=True, slots=True)
class Activity:
    """What one step does. `busy_ms`: time in which the GPU runs anything."""

    kernels: int
    launches: int
    busy_ms: float


@dataclass(frozen=True, slots=True)
class Timing:
    """Steps of one way. `steps`: ms on the device; `issue`: ms until the host is done issuing one.

    `activity`: None where the profiler saw nothing.
    """

    steps: tuple[float, ...]
    issue: tuple[float, ...]
    activity: Activity | None = None

    @property
    def step(self) -> Spread:
        """Return the percentiles of a step, ms."""
        return spread(self.steps)

    @property
    def launch_bound(self) -> float | None:
        """Return the share of a step in which the GPU waits for the host, None where not known."""
        if self.activity is None:
            return None
        return max(0.0, 1 - self.activity.busy_ms / self.step.p50)


@dataclass(frozen=True, slots=True)
class Cost:
    """What capturing one size takes, alone in a pool of its own.

    `capture_ms`: warm-up and capture. `free_mib`: how much less of the device is free, which other
    processes on it change too, and at least `pool_mib`: what the allocator of this process took for
    the pool, which a larger graph would share.
    """

    capture_ms: float
    free_mib: float
    pool_mib: float

    @property
    def own_mib(self) -> float:
        """Return the MiB besides the pool: the graph itself."""
        return max(0.0, self.free_mib - self.pool_mib)


@dataclass(frozen=True, slots=True)
class Size:
    """One batch size. `timings`: by way; `copy_in_ms`: filling the static inputs, median.

    `wrong`: by way, why it is no choice: a capture that is refused, a replay that differs, a step
    that does not even run eagerly, in words. Such a way has no timing.
    """

    size: int
    timings: dict[Way, Timing]
    wrong: dict[Way, str]
    cost: Cost | None = None
    copy_in_ms: float | None = None

    def speedup(self, way: Way) -> Spread | None:
        """Return how many times faster than eager a way is, None where it is wrong or not measured."""
        if way in self.wrong or way not in self.timings or Way.EAGER not in self.timings:
            return None
        return speedup(self.timings[Way.EAGER].steps, self.timings[way].steps)


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole ladder in one pool: MiB predicted from the sizes `known` alone, and measured."""

    known: tuple[int, ...]
    predicted_mib: float
    free_mib: float
    pool_mib: float


@dataclass(frozen=True, slots=True)
class Bench:
    """A run of bench. `sizes` ascend. `eager`: globs over modules that ran eagerly between pieces."""

    case: str
    sizes: tuple[Size, ...]
    environment: dict[str, str]
    whole: Whole | None = None
    eager: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ways(self) -> tuple[Way, ...]:
        """Return the ways that were asked for."""
        return tuple(
            way for way in Way if any(way in one.timings or way in one.wrong for one in self.sizes)
        )

    @property
    def exit_code(self) -> int:
        """Return what the command exits with: 1 if a graph is wrong, 4 if one is only undecided."""
        reasons = [why for one in self.sizes for why in one.wrong.values()]
        if all(why.startswith(UNDECIDED) for why in reasons):
            return 4 if reasons else 0
        return 1
