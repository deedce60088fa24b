"""What new code computes more than the old one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")

from capturelint.debug.attempts.part import Call, Part  # noqa: E402 - needs torch
from capturelint.debug.settings import Settings  # noqa: E402
from capturelint.rewrite.patterns.order import PATTERNS  # noqa: E402
from capturelint.rewrite.proof.cost import (  # noqa: E402
    Work,
    computed,
    in_words,
    time_in_words,
    times_of,
    work_of,
)
from capturelint.rewrite.proof.trial import Bench  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


def bench(run: Callable[..., object], *inputs: Tensor, mode: Any = nullcontext) -> Bench:
    state = SimpleNamespace(watching=nullcontext)
    instance = SimpleNamespace(prepare=None, state=state, case=SimpleNamespace(mode="no_grad"))
    modules: Any = SimpleNamespace(from_start=mode)
    backend: Any = SimpleNamespace(seed=lambda _: None)
    part = Part("", "f", run, tuple((Call((one,), {}),) for one in inputs))
    return Bench(part, instance, modules, backend, Settings(), lambda: None)  # type: ignore[arg-type] # what is asked of it


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_work_is_counted_on_average_over_steps_as_torch_counts_it(mode: Any) -> None:
    linear = torch.nn.Linear(4, 8)

    def run(x: Tensor) -> Tensor:
        x = x.t().t()  # views, which cost nothing
        return linear(x) if x.sum() > 0 else x

    ones = torch.ones(2, 4)
    # The product writes 16 numbers and takes 2 * 2 * 4 * 8 FLOPs; sum, `>` and the read write one each or none.
    assert work_of([bench(run, ones, ones, mode=mode)]) == Work(flops=128, written=16 + 1 + 1)
    assert work_of([bench(run, ones, -ones, mode=mode)]) == Work(flops=64, written=8 + 1 + 1)


def test_there_is_no_figure_where_a_step_raises() -> None:
    def run(_: Tensor) -> None:
        raise ValueError

    assert work_of([bench(run, torch.ones(1))]) is None


def test_times_are_medians_of_old_and_new_in_turn() -> None:
    order: list[str] = []
    now = ["old"]

    @contextmanager
    def new() -> Iterator[None]:
        now[0] = "new"
        yield
        now[0] = "old"

    def timer(call: Callable[[], object]) -> float:
        call()
        # One step in which all took long, as another program does it.
        return {"old": 2.0, "new": 3.0}[now[0]] + (100 if len(order) in (10, 11) else 0)

    found = times_of([bench(lambda _: order.append(now[0]), torch.ones(1))], new, timer)

    assert found == (2.0, 3.0)
    assert order[:6] == ["new", "old", "old", "new", "new", "old"]


def test_figures_are_told_by_what_there_is() -> None:
    assert in_words("both arms", Work(2e6, 100), Work(3e6, 100), steps=7) == (
        "both arms are computed: in a step of the case 3 MFLOP of matrix products, not 2 MFLOP (+50 %);"
        " 100 numbers written, not 100 (+0 %); average of 7 recorded steps"
    )
    assert in_words("all rows", Work(0, 1500), Work(0, 3000), steps=1) == (
        "all rows are computed: in a step of the case 3,000 numbers written, not 1,500 (+100 %);"
        " average of the recorded step"
    )
    assert time_in_words(0.5, 0.6).startswith(
        "an eager step of the case takes 0.6 ms on the GPU, where it took 0.5 (+20 %): medians of"
    )


def test_patterns_that_compute_more_are_known_by_their_module() -> None:
    told = {getattr(one, "__name__", "").rpartition(".")[2]: computed(one) for one in PATTERNS}

    assert told["branch"] == told["choice"] == told["predicated"] == "both arms"
    assert told["masked"] == told["reduced"] == "all rows"
    assert told["bounded"] == "all turns"
    assert told["reading"] == told["roundtrip"] == ""
