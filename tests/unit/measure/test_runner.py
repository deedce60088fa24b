"""A runner on the simulator: each size and policy gives what eager gives, or one clear line."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from capturelint import CapturelintError, Case, GraphRunner
from tests.unit.measure.made_runners import D, one, runner

pytestmark = pytest.mark.simulated


class RowWise(nn.Module):
    """From x (B, D) and y (B, D) to (B, D) and (B,): no row reads another."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(D, D)
        self.second = nn.Linear(D, D)

    def forward(self, x: Tensor, *, y: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.second(torch.relu(self.first(x)) + y)
        return hidden, hidden.sum(1)


def inputs(seed: int, batch_size: int = 1) -> tuple[tuple[Tensor], dict[str, Tensor]]:
    draw = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(batch_size, D, generator=draw) for _ in range(2))
    return (x,), {"y": y}


def ready(rows: int, seed: int = 9) -> tuple[Tensor, Tensor]:
    (x,), keywords = inputs(seed, rows)
    return x.cuda(), keywords["y"].cuda()


def assert_as_eager(run: GraphRunner, model: nn.Module, rows: int, seed: int = 9) -> None:
    x, y = ready(rows, seed)
    got = run(x, y=y)
    with torch.no_grad():
        expected = model(x, y=y)

    for mine, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(mine, theirs)


@pytest.mark.parametrize("pad", ["zero", "repeat-last", "keep"])
@pytest.mark.parametrize("choices", [{}, {"result": "view"}, {"eager": ["second"]}])
def test_every_size_gives_what_eager_gives(pad: str, choices: dict[str, Any]) -> None:
    model = RowWise()
    run = runner(Case(model, inputs), pad=pad, **choices)

    for rows in (0, 1, 2, 3, 4, 8, 9, 5, 1):
        assert_as_eager(run, model, rows)


@settings(max_examples=15, deadline=None)
@given(
    sizes=st.sets(st.integers(1, 9), min_size=1, max_size=3),
    steps=st.lists(st.integers(0, 11), max_size=6),
    pad=st.sampled_from(["zero", "repeat-last", "keep"]),
    result=st.sampled_from(["copy", "view"]),
)
def test_any_ladder_gives_what_eager_gives(
    sizes: set[int], steps: list[int], pad: str, result: str
) -> None:
    model = RowWise()
    run = runner(Case(model, inputs), tuple(sizes), pad=pad, result=result)

    for seed, rows in enumerate(steps):
        assert_as_eager(run, model, rows, seed)
    run.close()


def test_sizes_round_up_and_above_the_largest_run_eagerly() -> None:
    run = runner(Case(RowWise(), inputs))

    assert [run.size_for(rows) for rows in (0, 1, 2, 3, 4, 8, 9)] == [None, 1, 3, 3, 8, 8, None]


def test_graphs_are_captured_from_the_largest_down() -> None:
    met = []

    def watch(size: int, name: str, phase: str) -> Any:
        if phase == "capture":
            met.append((size, name))
        return nullcontext()

    both = {"draft": nn.Linear(D, D), "target": nn.Linear(D, D)}
    runner(
        Case(both, lambda seed, batch_size: {n: one(seed, batch_size) for n in both}), watch=watch
    )

    assert met == [(size, name) for size in (8, 3, 1) for name in ("draft", "target")]


def test_pad_rows_hold_what_the_policy_says() -> None:
    def total(x: Tensor) -> Tensor:
        return x.sum(0).expand_as(x) * 1

    def ones(rows: int) -> Tensor:
        return torch.ones(rows, D, device="cuda")

    first = {"zero": 2.0, "repeat-last": 4.0}
    for pad, expected in first.items():
        run = runner(Case(total, one), (4,), pad=pad)
        run(ones(4) * 7)
        run(ones(3))

        assert run(ones(2))[0, 0].item() == expected
    run = runner(Case(total, one), (4,), pad="keep")
    run(ones(4) * 7)
    assert run(ones(2))[0, 0].item() == 2 + 14


def test_nan_in_pad_rows_does_not_move_real_rows() -> None:
    model = RowWise()
    run = runner(Case(model, inputs), (8,), pad="keep")
    x, y = ready(8)
    run(x * torch.nan, y=y)

    assert_as_eager(run, model, 5)


def test_results_that_are_kept_stay_as_they_were() -> None:
    run = runner(Case(RowWise(), inputs))
    first = run(ready(3)[0], y=ready(3)[1])[0]
    before = first.clone()
    for rows in (3, 8, 1):
        x, y = ready(rows, seed=5)
        run(x, y=y)

    assert torch.equal(first, before)


def test_a_view_is_overwritten_by_its_own_graph_only() -> None:
    both = {"draft": nn.Linear(D, D), "target": nn.Sequential(nn.Linear(D, 64), nn.Linear(64, D))}
    case = Case(both, lambda seed, batch_size: {name: one(seed, batch_size) for name in both})
    run = runner(case, (2, 4), result="view")
    x = ready(4)[0]
    target = run.call("target", x)
    draft = run.call("draft", x)
    before = target.clone(), draft.clone()
    run.call("draft", x[:2])
    run.call("target", x[:2])

    assert torch.equal(target, before[0])
    assert torch.equal(draft, before[1])
    run.call("draft", x + 1)
    assert not torch.equal(draft, before[1])
    assert torch.equal(target, before[0])


def test_prepare_runs_before_each_step_outside_of_the_graph() -> None:
    scale = torch.ones(1, device="cuda")
    steps = []

    def prepare(step: int) -> None:
        steps.append(step)
        scale.fill_(step)

    run = runner(Case(lambda x: x * scale, one, prepare=prepare), (2,))
    steps.clear()
    x = torch.ones(2, D, device="cuda")

    assert [run(x)[0, 0].item() for _ in range(3)] == [0, 1, 2]
    assert steps == [0, 1, 2]


def test_what_a_call_writes_into_its_argument_is_written_in_the_callers() -> None:
    def add(x: Tensor) -> Tensor:
        return x.add_(1)

    run = runner(Case(add, one), (2, 4))
    for rows in (2, 3, 5):
        x = torch.zeros(rows, D, device="cuda")
        assert run(x).eq(1).all()
        assert x.eq(1).all()


def test_a_cache_that_all_inputs_share_is_the_callers_own() -> None:
    class Cache:
        def __init__(self) -> None:
            self.rows = torch.zeros(8, D)

    cache = Cache()

    def step(x: Tensor, cache: Cache) -> Tensor:
        cache.rows[: len(x)] = x
        return cache.rows[: len(x)] * 2

    run = runner(Case(step, lambda seed, batch_size: (*one(seed, batch_size), cache)), (2, 4))
    x = torch.full((3, D), 5.0, device="cuda")

    assert run(x, cache).eq(10).all()
    assert cache.rows[:3].eq(5).all()
    other = Cache()
    other.rows = other.rows.cuda()
    with pytest.raises(CapturelintError, match=r"`cache\.rows` is another tensor than the one"):
        run(x, other)


@pytest.mark.parametrize("mode", ["inference", "no_grad"])
def test_it_runs_in_inference_mode_and_outside(mode: Any) -> None:
    model = RowWise()
    run = runner(Case(model, inputs, mode=mode))
    assert_as_eager(run, model, 2)
    with torch.inference_mode():
        for rows in (2, 3, 9):
            assert_as_eager(run, model, rows)
    assert_as_eager(run, model, 2)


def test_what_is_returned_has_no_gradients() -> None:
    run = runner(Case(nn.Linear(D, D), one, mode="train"))

    assert [run(ready(rows)[0]).requires_grad for rows in (0, 2, 9)] == [False] * 3


BAD: dict[str, tuple[Callable[[Tensor, Tensor], tuple[tuple[Any, ...], dict[str, Any]]], str]] = {
    "dtype": (lambda x, y: ((x.half(),), {"y": y}), "`x` is float16 instead of float32"),
    "device": (lambda x, y: ((x.cpu(),), {"y": y}), "`x` is on cpu instead of cuda:0"),
    "width": (lambda x, y: ((x[:, :2],), {"y": y}), r"`x` is \(2, 2\) instead of \(rows, 4\)"),
    "dimensions": (lambda x, y: ((x[0],), {"y": y}), r"`x` is \(4,\) instead of \(rows, 4\)"),
    "rows": (lambda x, y: ((x,), {"y": y[:1]}), "`y` is of 1 rows where others have 2"),
    "kind": (lambda x, y: ((x,), {"y": 3}), "`y` is 3; a graph takes only"),
    "layout": (lambda x, y: ((x.to_sparse(),), {"y": y}), "`x` is of a layout that has no rows"),
    "missing": (lambda x, y: ((x,), {}), "is called with 1 positional argument;"),
    "by name": (lambda x, y: ((), {"x": x, "y": y}), "call it as the examples do"),
}


@pytest.mark.parametrize("change", BAD)
def test_what_else_changes_is_one_clear_line(change: str) -> None:
    model = RowWise()
    run = runner(Case(model, inputs))
    changed, message = BAD[change]
    args, keywords = changed(*ready(2))
    with pytest.raises(CapturelintError, match=message) as raised:
        run(*args, **keywords)

    assert "\n" not in str(raised.value)
    assert_as_eager(run, model, 2)


def test_a_number_that_a_graph_would_keep_is_refused() -> None:
    run = runner(Case(lambda x, scale: x * scale, lambda s, batch_size: (*one(s, batch_size), 2.0)))
    x = torch.ones(2, D, device="cuda")

    assert run(x, 2.0).eq(2).all()
    with pytest.raises(CapturelintError, match=r"`scale` is 3\.0, and was 2\.0"):
        run(x, 3.0)


def test_rows_may_take_several_elements_of_a_dimension() -> None:
    def inputs_of(seed: int, batch_size: int) -> tuple[Tensor, Tensor]:
        return torch.full((D, 2 * batch_size), float(seed)), torch.randn(batch_size, D)

    run = runner(Case(lambda a, b: (a * 2, b * 3), inputs_of, batch_dims={"a": 1, "b": 0}))
    a, b = torch.ones(D, 4, device="cuda"), torch.ones(2, D, device="cuda")
    first, second = run(a, b)

    assert (first.shape, second.shape) == (a.shape, b.shape)
    assert first.eq(2).all()
    with pytest.raises(CapturelintError, match=r"`a` is \(4, 3\) instead of \(4, 2 \* rows\)"):
        run(a[:, :3], b)


REFUSED: dict[str, tuple[Case, str]] = {
    "other dim": (
        Case(lambda x: x, one, batch_dims=1),
        "batch_dims says 1 for `x`, but dimension 0",
    ),
    "no such dim": (
        Case(lambda x: x, one, batch_dims=2),
        "batch_dims says 2 for `x`, but dimension 0 grows",
    ),
    "no such name": (
        Case(lambda x: x, one, batch_dims={"y": 0}),
        "batch_dims names 'y'; the arguments are x",
    ),
    "fixed": (
        Case(
            lambda x, y: x + y,
            lambda seed, batch_size: (*one(seed, batch_size), torch.ones(D)),
            batch_dims={"x": 0, "y": 0},
        ),
        "batch_dims says 0 for `y`, but no dimension grows",
    ),
    "not written": (Case(nn.Module(), one), "at size 1, raised NotImplementedError: Module"),
    "prepare": (
        Case(nn.Linear(D, D), one, prepare=lambda step: 1 // step),
        r"prepare\(0\) raised ZeroDivisionError",
    ),
    "no rows": (
        Case(lambda x: x, one, batch_dims={"x": None}),
        "batch_dims says None for `x`, but dimension 0 grows",
    ),
    "one example": (Case(lambda x: x, (torch.ones(2, D),)), "inputs is one example, of one size"),
    "no sizes": (Case(lambda x: x, lambda seed: (torch.ones(2, D),)), "inputs takes no batch_size"),
    "same size": (
        Case(lambda x: x, lambda seed, batch_size: (torch.ones(2, D),)),
        "no argument of the callable grows with the batch",
    ),
    "not by row": (
        Case(lambda x: x, lambda seed, batch_size: (torch.ones(batch_size + 2, D),)),
        "`x` does not grow row by row",
    ),
    "odd result": (
        Case(lambda x: torch.cat([x, x[:1]]), one),
        "the result of the callable does not grow row by row",
    ),
    "reads": (
        Case(lambda x: x * x.sum().item(), one),
        "cannot be captured at size 8: .*test_runner",
    ),
    "raises": (Case(lambda x: x.nothing, one), "called eagerly at size 1, raised AttributeError"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_a_case_that_cannot_be_captured_is_one_clear_line(why: str) -> None:
    case, message = REFUSED[why]
    with pytest.raises(CapturelintError, match=message) as raised:
        runner(case)

    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("sizes", "choices", "message"),
    [
        ((), {}, "sizes is empty"),
        (4, {}, "sizes is 4; give whole numbers, such as"),
        ((1,), {"warmup": 0}, "warmup is 0; give a whole number, 1 or more"),
        ((1,), {"settings": 3}, "settings is an int; give a dict such as"),
        ((1,), {"settings": {"dtyp": "bfloat16"}}, "no setting 'dtyp'; did you mean dtype?"),
        ((1,), {"eager": "frist"}, "eager frist: no module has such a path; did you mean first"),
        ((0, 1), {}, "sizes holds 0"),
        ((1, 1), {}, "sizes holds 1 twice"),
        ((1,), {"pad": "nan"}, "pad is 'nan'; it must be one of zero, repeat-last, keep"),
        ((1,), {"result": "both"}, "result is 'both'; it must be one of copy, view"),
        ((1,), {"eager": ["frist"]}, "eager frist: no module has such a path; did you mean first"),
        ((1,), {"eager": ["*"]}, "nothing is left to capture"),
    ],
)
def test_a_wrong_choice_is_one_clear_line(sizes: Any, choices: Any, message: str) -> None:
    with pytest.raises(CapturelintError, match=message):
        runner(Case(RowWise(), inputs), sizes, **choices)


def test_a_closed_runner_and_an_unknown_callable_say_so() -> None:
    run = runner(Case(RowWise(), inputs))
    with pytest.raises(CapturelintError, match="the case has no callable 'draft'"):
        run.call("draft")
    run.close()
    with pytest.raises(CapturelintError, match="the runner is closed"):
        run(*ready(2))


def test_two_threads_at_once_wait_for_each_other() -> None:
    model = RowWise()
    run = runner(Case(model, inputs))
    failed: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for rows in (2, 3, 8, 1, 5):
                assert_as_eager(run, model, rows, seed)
        except BaseException as error:  # noqa: BLE001 - the test tells
            failed.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []


def test_a_call_on_another_stream_waits_for_the_last_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = runner(Case(nn.Linear(D, D), one))
    x = ready(2)[0]
    first: Any = torch.cuda.current_stream()
    second: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    waits: list[tuple[Any, Any]] = []
    monkeypatch.setattr(type(second), "wait_stream", lambda *pair: waits.append(pair))
    run(x)
    with torch.cuda.stream(second):
        run(x)
        run(x)
    run(ready(9)[0])  # also a step that runs eagerly

    assert waits == [(second, first), (first, second)]


def test_a_view_is_refused_to_a_second_thread() -> None:
    run = runner(Case(RowWise(), inputs), result="view")
    told: list[str] = []

    def work() -> None:
        try:
            run(*ready(2))
        except CapturelintError as error:
            told.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert told == ["with result='view' only the thread that made the runner may call it"]


class Gap(nn.Module):
    """Reads a tensor on the host, which no capture allows."""

    def forward(self, x: Tensor) -> Tensor:
        return x * (2.0 if x.sum().item() > 0 else 3.0)


class WithGap(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(D, D), Gap(), nn.Linear(D, D), nn.Linear(D, D)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x) + 1
        return x


@pytest.mark.parametrize("result", ["copy", "view"])
def test_an_excluded_module_runs_eagerly_between_captured_pieces(result: str) -> None:
    model = WithGap()
    run = runner(Case(model, one), (2, 4), eager=["layers.1"], result=result)
    pieces: Any = run.captured().rungs[4].graph
    for seed in range(4):
        (x,) = one(seed, 2 + seed % 2)
        with torch.no_grad():
            torch.testing.assert_close(run(x.cuda()), model(x.cuda()))

    if result == "copy":
        assert len(pieces) == 3
    with pytest.raises(CapturelintError, match="cannot be captured at size 4"):
        runner(Case(model, one), (2, 4))


def test_a_piece_that_is_given_another_function_is_refused() -> None:
    class Applies(nn.Module):
        def forward(self, x: Tensor, scaled: Callable[[Tensor], Tensor]) -> Tensor:
            return scaled(x)

    class Scales(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gap, self.piece = Gap(), Applies()

        def forward(self, x: Tensor) -> Tensor:
            by = self.gap(x).sum().item()
            result: Tensor = self.piece(x, lambda y: y * by)
            return result

    run = runner(Case(Scales(), one), (2,), eager=["gap"])
    with pytest.raises(CapturelintError, match="piece piece was function and is another; exclude"):
        run(one(0, 2)[0].cuda())


def test_a_piece_that_writes_its_argument_is_refused() -> None:
    class Adds(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.add_(1)

    model = nn.Sequential(Adds(), Gap())
    with pytest.raises(CapturelintError, match="0 writes its argument `x`"):
        runner(Case(model, one), (2,), eager=["1"])


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ((1, 0), "second was not called here when the pieces were captured"),
        ((0,), "a step called 1 of its 2 captured pieces"),
    ],
)
def test_pieces_whose_calls_change_are_refused(order: tuple[int, ...], message: str) -> None:
    class Chooses(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.gap = nn.Linear(D, D), nn.Linear(D, D), Gap()
            self.order: tuple[int, ...] = (0, 1)

        def forward(self, x: Tensor) -> Tensor:
            for index in self.order:
                x = (self.first, self.second)[index](x)
            result: Tensor = self.gap(x)
            return result

    model = Chooses()
    run = runner(Case(model, one), (2,), eager=["gap"])
    model.order = order
    with pytest.raises(CapturelintError, match=message):
        run(one(0, 2)[0].cuda())
