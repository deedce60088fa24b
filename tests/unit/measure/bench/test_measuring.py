"""A run of bench on the simulator, by the host's clock: what is measured, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from capturelint import CapturelintError, Case
from capturelint.debug.settings import Settings
from capturelint.measure.bench.interleaved import timings
from capturelint.measure.bench.measuring import Edge, Measuring
from capturelint.measure.bench.meter import Memory, Sample
from capturelint.measure.bench.plan import Plan
from capturelint.measure.bench.result import Bench, Way
from capturelint.report import bench_text
from tests.unit.measure.bench.made import HostMeter
from tests.unit.measure.simulator import BACKEND

D = 4
pytestmark = pytest.mark.simulated


def inputs(seed: int, batch_size: int = 1) -> tuple[Tensor]:
    return (torch.randn(batch_size, D, generator=torch.Generator().manual_seed(seed)),)


def bench(case: Case, *, settings: Settings | None = None, **more: Any) -> Bench:
    plan = Plan(**{"sizes": (1, 4), "repeats": 3, "warmup": 1, **more})
    chosen = settings or Settings(replays=3)
    edge = Edge(BACKEND, HostMeter(), nullcontext)
    measuring = Measuring(edge, plan, chosen, lambda _text: None)
    return measuring.bench(lambda: case, "case")


def test_each_size_has_eager_and_graph_steps_and_a_cost() -> None:
    found = bench(Case(nn.Linear(D, D), inputs))

    assert [one.size for one in found.sizes] == [1, 4]
    for one in found.sizes:
        assert set(one.timings) == {Way.EAGER, Way.GRAPH}
        assert all(len(timing.steps) == 3 for timing in one.timings.values())
        assert one.wrong == {}
        assert one.cost is not None
        assert (one.cost.free_mib, one.cost.pool_mib) == (2.0, 1.0)
        assert one.copy_in_ms is not None
    assert found.whole is not None
    assert (found.whole.known, found.whole.predicted_mib, found.whole.free_mib) == ((1, 4), 3, 4)
    assert found.environment["date"]


class SharedMeter(HostMeter):
    """Sees other processes give back more than a graph takes."""

    def memory(self) -> Memory:
        seen = super().memory()
        return replace(seen, free=2 * 10_000.0 - seen.free)


def test_what_other_processes_give_back_is_no_cost_of_a_graph() -> None:
    edge = Edge(BACKEND, SharedMeter(), nullcontext)
    plan = Plan(sizes=(1, 4), repeats=3, warmup=1)
    case = Case(nn.Linear(D, D), inputs)
    found = Measuring(edge, plan, Settings(replays=3), lambda _text: None).bench(
        lambda: case, "case"
    )

    assert [one.cost and (one.cost.free_mib, one.cost.own_mib) for one in found.sizes] == [
        (1.0, 0.0),
        (1.0, 0.0),
    ]
    assert found.whole is not None
    assert found.whole.free_mib == found.whole.pool_mib


def test_what_refuses_capture_or_is_stale_has_no_graph_time() -> None:
    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def forward(self, x: Tensor) -> Tensor:
            self.calls += 1
            return x * self.calls

    def reads(x: Tensor) -> Tensor:
        return x * x.sum().item()

    for run, why in ((reads, "refuses-capture at "), (Counts(), "stale-on-replay")):
        found = bench(Case(run, inputs))

        assert all(set(one.timings) == {Way.EAGER} for one in found.sizes)
        assert all(one.wrong[Way.GRAPH].startswith(why) for one in found.sizes)
        assert found.whole is None


def test_a_size_that_does_not_run_leaves_the_others_as_they_are() -> None:
    def small(x: Tensor) -> Tensor:
        if len(x) > 2:
            raise MemoryError("no room")
        return x + 1

    found = bench(Case(small, inputs), sizes=(1, 2, 4))
    last = found.sizes[-1]

    assert [set(one.timings) for one in found.sizes[:2]] == [{Way.EAGER, Way.GRAPH}] * 2
    assert last.timings == {}
    assert set(last.wrong) == {Way.EAGER, Way.GRAPH}
    assert last.wrong[Way.GRAPH].startswith("undecided: it does not run at this size: ")
    assert "MemoryError: no room" in last.wrong[Way.GRAPH]
    assert found.exit_code == 4
    assert "   4  graph  undecided" in bench_text.render(found)
    with pytest.raises(CapturelintError, match="no room"):
        bench(Case(small, inputs), sizes=(4, 8))


def test_what_a_runner_refuses_to_be_called_with_is_undecided() -> None:
    def with_generator(seed: int, batch_size: int) -> tuple[object, ...]:
        return (*inputs(seed, batch_size), torch.Generator())

    found = bench(Case(lambda x, generator: x * 2, with_generator))

    assert all(
        one.wrong[Way.GRAPH].startswith("undecided: `generator` is another Generator")
        for one in found.sizes
    )
    assert found.exit_code == 4


def test_of_several_callables_an_undecided_one_is_not_called_wrong() -> None:
    def with_number(seed: int, batch_size: int) -> dict[str, object]:
        return {"draft": (*inputs(seed, batch_size), seed)}

    found = bench(Case({"draft": lambda x, number: x * number}, with_number))

    assert all(
        one.wrong[Way.GRAPH].startswith("undecided: draft: its arguments vary")
        for one in found.sizes
    )
    assert found.exit_code == 4


def test_in_pieces_the_rest_of_a_module_that_is_refused_is_measured() -> None:
    class Reads(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * x.sum().item()

    model = nn.Sequential(nn.Linear(D, D), Reads(), nn.Linear(D, D))
    found = bench(Case(model, inputs), eager=("1",))

    assert all(one.wrong == {} and Way.GRAPH in one.timings for one in found.sizes)
    assert found.eager == ("1",)


def test_pieces_that_are_stale_are_wrong() -> None:
    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def forward(self, x: Tensor) -> Tensor:
            self.calls += 1
            return x * self.calls

    model = nn.Sequential(Counts(), nn.Linear(D, D))
    found = bench(Case(model, inputs), eager=("1",))

    assert all(
        one.wrong[Way.GRAPH].startswith("stale-on-replay: the result") for one in found.sizes
    )


def test_compiled_steps_are_measured_beside_the_others() -> None:
    found = bench(Case(nn.Linear(D, D), inputs), compiled=True)

    assert found.ways == tuple(Way)


def test_compiled_graphs_are_measured_where_others_are_refused() -> None:
    refused = iter([True, True])  # of the two sizes; what an iterator gave is not put back

    def reads_at_first(x: Tensor) -> Tensor:
        if torch.cuda.is_current_stream_capturing() and next(refused, False):
            x.sum().item()
        return x + 1

    found = bench(Case(reads_at_first, inputs), compiled=True)

    for one in found.sizes:
        assert set(one.wrong) == {Way.GRAPH}
        assert set(one.timings) == {Way.EAGER, Way.COMPILED, Way.COMPILED_GRAPH}
    assert found.whole is None


def test_of_several_callables_only_the_named_are_measured() -> None:
    met: list[str] = []

    def draft(x: Tensor) -> Tensor:
        met.append("draft")
        return x + 1

    def target(x: Tensor) -> Tensor:
        met.append("target")
        return x + 2

    both = {"draft": draft, "target": target}

    def made(seed: int, batch_size: int) -> Mapping[str, Any]:
        return {name: inputs(seed, batch_size) for name in both}

    bench(Case(both, made), callables=("target",))
    assert set(met) == {"target"}
    bench(Case(both, made))
    assert set(met) == {"draft", "target"}
    with pytest.raises(CapturelintError, match="--callables verify: the case has no such callable"):
        bench(Case(both, made), callables=("verify",))


def test_a_case_of_one_size_says_what_to_write() -> None:
    with pytest.raises(CapturelintError, match="inputs takes no batch_size"):
        bench(Case(nn.Linear(D, D), lambda seed: inputs(seed, 2)))


def test_state_that_calls_write_is_the_same_for_eager_and_replay() -> None:
    class Adds(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.total: Tensor
            self.register_buffer("total", torch.zeros(D))

        def forward(self, x: Tensor) -> Tensor:
            self.total += x.sum(0)
            return x + self.total

    found = bench(Case(Adds(), inputs))

    assert all(one.wrong == {} for one in found.sizes)


def test_prepare_runs_for_both_with_the_same_step() -> None:
    scale = torch.ones(1, device="cuda")

    def prepare(step: int) -> None:
        scale.fill_(step + 1)

    found = bench(Case(lambda x: x * scale, inputs, prepare=prepare))

    assert all(one.wrong == {} for one in found.sizes)


def test_random_numbers_are_the_same_for_eager_and_replay() -> None:
    found = bench(Case(lambda x: x + torch.rand_like(x), inputs))

    assert all(one.wrong == {} for one in found.sizes)


@pytest.mark.parametrize("choice", [{"dtype": "bfloat16"}, {"autocast": "bfloat16"}])
def test_another_dtype_is_that_of_graphs_too(choice: dict[str, str]) -> None:
    met: set[torch.dtype] = set()

    class Notes(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            result = super().forward(x)
            met.add(result.dtype)
            return result

    found = bench(Case(Notes(D, D), inputs), settings=Settings(replays=3, **choice))  # type: ignore[arg-type] # all are text

    assert all(one.wrong == {} and Way.GRAPH in one.timings for one in found.sizes)
    assert met == {torch.bfloat16}


def test_a_training_step_is_measured_with_its_backward() -> None:
    model = nn.Linear(D, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: Tensor) -> Tensor:
        optimizer.zero_grad(set_to_none=False)
        loss: Tensor = model(x).square().mean()
        loss.backward()  # type: ignore[no-untyped-call] # torch leaves it so
        optimizer.step()
        return loss.detach()

    found = bench(Case(step, inputs))

    assert [one.wrong for one in found.sizes] == [{}, {}]
    assert all(Way.GRAPH in one.timings for one in found.sizes)


def test_ways_run_in_turn_and_each_goes_first_every_other_time() -> None:
    met: list[str] = []

    class Meter(HostMeter):
        def sample(self, call: Any) -> Sample:
            call()
            return Sample(1, 1)

    ways = {
        Way.EAGER: lambda number: met.append(f"e{number}"),
        Way.GRAPH: lambda number: met.append(f"g{number}"),
    }
    found = timings(ways, Meter(), repeats=2, warmup=1)

    assert met == ["e0", "g0", "g1", "e1", "e2", "g2", "e0", "g0"]
    assert len(found[Way.EAGER].steps) == 2
