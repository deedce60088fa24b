"""Measure a case: judge each size, capture each alone and all together, then run all ways in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

import torch

from capturelint.debug.backend import Backend
from capturelint.debug.cases.case import Case
from capturelint.debug.environment import environment_of
from capturelint.debug.instance import modes_of
from capturelint.debug.settings import Settings
from capturelint.debug.warmup import Warm
from capturelint.errors import CapturelintError
from capturelint.measure.bench.compiling import compiled
from capturelint.measure.bench.interleaved import Step, timings
from capturelint.measure.bench.meter import Meter
from capturelint.measure.bench.plan import Plan, restricted
from capturelint.measure.bench.result import UNDECIDED, Bench, Cost, Size, Way, Whole
from capturelint.measure.bench.right import warm_of, wrong_graph, wrong_results
from capturelint.measure.bench.samples import spread
from capturelint.measure.bench.watch import Watch
from capturelint.measure.graphs.mistakes import RunnerError
from capturelint.measure.graphs.rung import Pad
from capturelint.measure.graphs.sized import case_at
from capturelint.measure.memory import Alone, chosen, predicted, segments
from capturelint.measure.runner import GraphRunner

_CHECKED = 3  # fresh inputs that a runner's results are compared on
_FILLS = 20  # samples of filling the static inputs


@dataclass(frozen=True, slots=True)
class Edge:
    """Where it is measured. `apart`: a context in which captures have a memory pool of their own."""

    backend: Backend
    meter: Meter
    apart: Callable[[], AbstractContextManager[None]]


@dataclass(slots=True)
class _Kind:
    """The case as it is, or compiled: what is known of it by size.

    `runner`: of all sizes that are right, None where none is.
    """

    case: Case
    plain: Way
    graph: Way
    warm: dict[int, Warm] = field(default_factory=dict)
    wrong: dict[int, str] = field(default_factory=dict)
    runner: GraphRunner | None = None


class Measuring:
    """One run of bench. `say`: is told in words what is done."""

    def __init__(
        self, edge: Edge, plan: Plan, settings: Settings, say: Callable[[str], object]
    ) -> None:
        self._edge = edge
        self._plan = plan
        self._settings = settings
        self._say = say

    def bench(self, load: Callable[[], Case], label: str) -> Bench:
        """Return what was measured. Inside the backend's session. Raises `CapturelintError`."""
        self._edge.backend.seed(self._settings.seed)
        case = restricted(load(), self._plan.callables)
        kinds = [_Kind(case, Way.EAGER, Way.GRAPH)]
        if self._plan.compiled:
            kinds.append(
                _Kind(compiled(case, len(self._plan.sizes)), Way.COMPILED, Way.COMPILED_GRAPH)
            )
        for kind in kinds:
            self._judge(kind)
        costs = self._costs(kinds[0])
        whole = None
        with ExitStack() as opened:
            for kind in kinds:
                # What attempts left in a pool would be used again and not be counted.
                opened.enter_context(self._edge.apart())
                self._touch_pool()
                taken = self._capture(kind)
                if taken is not None and costs and kind is kinds[0]:
                    whole = _whole(costs, taken)
            sizes = tuple(self._size(size, kinds, costs.get(size)) for size in self._plan.sizes)
            for kind in kinds:
                if kind.runner is not None:
                    kind.runner.close()
        warm = kinds[0].warm[self._plan.sizes[0]].instance
        notes = dict.fromkeys((*warm.notes, *self._edge.backend.notes()))
        found = environment_of(self._edge.backend, warm.modules)
        return Bench(label, sizes, _dated(found), whole, self._plan.eager, tuple(notes))

    def _judge(self, kind: _Kind) -> None:
        for size in self._plan.sizes:
            self._say(f"judging {kind.graph.value} at size {size}")
            sized = case_at(kind.case, size)
            try:
                warm = warm_of(sized, self._edge.backend, self._settings)
            except CapturelintError as error:
                if size == self._plan.sizes[0]:
                    raise
                kind.wrong[size] = f"{UNDECIDED}: it does not run at this size: {error}"
                continue
            kind.warm[size] = warm
            kind.case = replace(kind.case, mode=warm.instance.case.mode)
            if self._plan.eager:
                continue  # of pieces only the results can be compared
            why = wrong_graph(warm, list(kind.case.named), self._edge.backend, self._settings)
            if why:
                kind.wrong[size] = why

    def _costs(self, kind: _Kind) -> dict[int, Cost]:
        costs = {}
        for size in self._right(kind):
            self._say(f"capturing size {size} alone")
            with self._edge.apart():
                self._touch_pool()
                watch = Watch(self._edge.meter, only=size)
                try:
                    self._runner(kind, (size,), watch).close()
                except RunnerError as error:
                    kind.wrong[size] = str(error)
                    continue
            pool = max(0.0, watch.pool)
            # Less than the pool is what other processes gave back meanwhile: they share the device.
            costs[size] = Cost(watch.ms, max(watch.free, pool), pool)
        return costs

    def _touch_pool(self) -> None:
        """Capture something small: what the first capture of a pool takes is no graph's own."""
        self._edge.backend.capture(lambda: torch.zeros(1, device="cuda")).close()

    def _capture(self, kind: _Kind) -> Watch | None:
        """Capture all sizes that are right into one pool. Return what that took."""
        sizes = self._right(kind)
        if not sizes:
            return None
        self._say(f"capturing {len(sizes)} sizes")
        watch = Watch(self._edge.meter)
        try:
            kind.runner = self._runner(kind, sizes, watch)
        except RunnerError as error:
            kind.wrong |= dict.fromkeys(sizes, str(error))
            return None
        for size in sizes:
            why = wrong_results(
                kind.warm[size],
                kind.runner,
                self._edge.backend,
                self._settings,
                steps=_CHECKED,
            )
            if why:
                kind.wrong.setdefault(size, why)
        return watch

    def _size(self, size: int, kinds: list[_Kind], cost: Cost | None) -> Size:
        self._say(f"timing size {size}")
        ways: dict[Way, Step] = {}
        wrong: dict[Way, str] = {}
        for kind in kinds:
            if size in kind.warm:
                ways[kind.plain] = self._plain(kind, size)
            else:
                wrong[kind.plain] = kind.wrong[size]
            if size in kind.wrong:
                wrong[kind.graph] = kind.wrong[size]
            elif kind.runner is not None:
                ways[kind.graph] = self._graphed(kind, kind.runner, size)
        plan = self._plan
        with modes_of(kinds[0].case, self._settings):
            found = timings(ways, self._edge.meter, repeats=plan.repeats, warmup=plan.warmup)
        copy_in = self._copy_in(kinds[0], size) if Way.GRAPH in ways else None
        return Size(size, found, wrong, cost, copy_in)

    def _plain(self, kind: _Kind, size: int) -> Step:
        parts = [kind.warm[size].instance.parts[name] for name in kind.case.named]
        prepare = kind.case.prepare

        def step(number: int) -> None:
            if prepare is not None:
                prepare(number)
            for part in parts:
                part.steps[number % len(part.steps)][0].of(part.run)

        return step

    def _graphed(self, kind: _Kind, runner: GraphRunner, size: int) -> Step:
        parts = kind.warm[size].instance.parts

        def step(number: int) -> None:
            for name in kind.case.named:
                (call,) = parts[name].steps[number % len(parts[name].steps)]
                runner.call(name, *call.args, **call.kwargs)

        return step

    def _copy_in(self, kind: _Kind, size: int) -> float:
        assert kind.runner is not None
        fills = []
        for name in kind.case.named:
            captured = kind.runner.captured(name)
            (call,) = kind.warm[size].instance.parts[name].steps[0]
            values = captured.form.values(call.args, call.kwargs)
            fills.append((captured.rungs[size].buffers, values))

        def fill() -> None:
            with torch.no_grad():
                for buffers, values in fills:
                    buffers.fill(values, size, Pad.ZERO)

        return spread([self._edge.meter.sample(fill).step for _ in range(_FILLS)]).p50

    def _runner(self, kind: _Kind, sizes: tuple[int, ...], watch: Watch) -> GraphRunner:
        return GraphRunner(
            kind.case,
            sizes,
            eager=self._plan.eager,
            backend=self._edge.backend,
            settings=self._settings,
            watch=watch,
        )

    def _right(self, kind: _Kind) -> tuple[int, ...]:
        return tuple(size for size in self._plan.sizes if size not in kind.wrong)


def _dated(found: Mapping[str, str]) -> dict[str, str]:
    date = datetime.now(tz=timezone.utc).date().isoformat()
    allocator = found.get("allocator", "")
    told = {"expandable segments": segments(allocator)} if allocator else {}
    return {**found, **told, "date": date}


def _whole(costs: Mapping[int, Cost], watch: Watch) -> Whole:
    sizes = sorted(costs)
    known = chosen(sizes)
    alone = {size: Alone(costs[size].own_mib, costs[size].pool_mib) for size in known}
    return Whole(known, predicted(alone, sizes), max(watch.free, watch.pool), watch.pool)
