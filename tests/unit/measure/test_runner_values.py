"""What goes into a runner and comes out of it: nothing that a graph would keep passes for new."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from capturelint import CapturelintError, Case
from tests.unit.measure.made_runners import D, one, runner

pytestmark = pytest.mark.simulated


def with_extra(extra: Callable[[], object]) -> Callable[..., tuple[object, ...]]:
    return lambda seed, batch_size=1: (*one(seed, batch_size), extra())


def rows(number: int, value: float = 1) -> Tensor:
    return torch.full((number, D), float(value), device="cuda")


def refused(run: Any, *args: object) -> str:
    with pytest.raises(CapturelintError) as raised:
        run(*args)
    return str(raised.value)


def test_arguments_that_are_nested_otherwise_are_refused() -> None:
    def difference(pair: dict[str, Tensor], more: tuple[Tensor, ...]) -> Tensor:
        return pair["a"] - 2 * pair["b"] + more[0]

    def inputs(seed: int, batch_size: int = 1) -> tuple[object, ...]:
        (x,) = one(seed, batch_size)
        return {"a": x, "b": x + 1}, (x + 2,)

    run = runner(Case(difference, inputs), (4,))
    a, b, c = rows(3), rows(3, 5), rows(3, 7)

    assert run({"a": a, "b": b}, (c,)).eq(1 - 10 + 7).all()
    assert refused(run, {"b": b, "a": a}, (c,)) == (
        "`pair` holds b, a, and held a, b when it was captured; call it as the examples do"
    )
    assert "`more` is a list, and was a tuple" in refused(run, {"a": a, "b": b}, [c])
    assert "`more` is a single value, and was a tuple" in refused(run, {"a": a, "b": b}, c)
    assert "`more` holds 2 values, and held 1 value" in refused(run, {"a": a, "b": b}, (c, c))
    assert "`pair` holds 1 value, and held 2 values" in refused(run, {"a": a}, (b, c))


def test_a_value_that_is_not_surely_the_captured_one_is_refused() -> None:
    run = runner(Case(lambda x, extra: x * 2, with_extra(lambda: {1, 2})), (2,))

    assert run(rows(2), {2, 1}).eq(2).all()
    assert refused(run, rows(2), {1, 3}) == (
        "`extra[1]` is 3, and was 2 when it was captured; a graph keeps the first:"
        " pass a tensor on the device"
    )
    run = runner(Case(lambda x, extra: x * 2, with_extra(torch.Generator)), (2,))
    assert refused(run, rows(2), torch.Generator()).startswith(
        "`extra` is another Generator than when it was captured"
    )


def test_a_write_of_what_was_there_is_a_write() -> None:
    def at_least_zero(x: Tensor) -> Tensor:
        return x[:, :2].clamp_(min=0) * 1

    def positive(seed: int, batch_size: int = 1) -> tuple[Tensor]:
        return (one(seed, batch_size)[0].abs(),)

    for mode in ("no_grad", "inference"):
        run = runner(Case(at_least_zero, positive, mode=mode), (4,))
        x = rows(3, -1)
        run(x)
        assert x.tolist() == [[0, 0, -1, -1]] * 3


def test_what_is_written_must_not_lie_in_the_memory_of_another_argument() -> None:
    def add(x: Tensor, y: Tensor) -> Tensor:
        x.add_(1)
        return x + y

    def inputs(seed: int, batch_size: int = 1) -> tuple[Tensor, ...]:
        return one(seed, batch_size)[0].repeat(1, 2).chunk(2, dim=1)

    def same(seed: int, batch_size: int = 1) -> tuple[Tensor, ...]:
        (x,) = one(seed, batch_size)
        return x, x.view(batch_size, D)

    told = "calls write `x`, and `y` shares its memory; pass tensors that lie apart"
    with pytest.raises(CapturelintError, match=told):
        runner(Case(add, same), (2, 4))
    run = runner(Case(add, inputs), (2, 4))
    both = torch.ones(3, 2 * D, device="cuda")

    assert refused(run, both[:, :D], both[:, 1 : D + 1]) == told
    assert refused(run, both[:, :D], both[:, :D]) == told
    assert run(*both.chunk(2, dim=1)).eq(3).all()
    assert both[0].tolist() == [2] * D + [1] * D


class Cache:
    def __init__(self) -> None:
        self.rows = torch.zeros(8, D)


def test_a_shared_object_that_is_returned_is_the_callers_own() -> None:
    def step(x: Tensor, cache: Cache) -> tuple[Tensor, Cache, Tensor]:
        cache.rows[: len(x)] = x
        return x * 2, cache, cache.rows

    for result in ("copy", "view"):
        cache = Cache()
        run = runner(Case(step, with_extra(lambda: cache)), (2, 4), result=result)  # noqa: B023 - it is made at once
        doubled, mine, memory = run(rows(3, 5), cache)
        assert mine is cache
        assert memory is cache.rows
        run(rows(4, 6), mine)
        assert cache.rows[:4].eq(6).all()
        assert result == "view" or doubled.eq(10).all()


class Pair(NamedTuple):
    first: Tensor
    second: Tensor | None


def test_results_keep_their_form() -> None:
    def form(x: Tensor) -> dict[str, object]:
        y = x * 2
        return {"y": y, "again": y, "pair": Pair(x, None), "column": x[:, :1], "sum": y.sum()}

    run = runner(Case(form, one))
    x = rows(2)
    found = run(x)

    assert found["y"] is found["again"]
    assert type(found["pair"]) is Pair
    assert found["pair"].first is not x
    assert torch.equal(found["pair"].first, x)
    assert found["column"].shape == (2, 1)
    assert found["sum"].item() == 2 * 2 * D


def _later(x: Tensor) -> Iterator[Tensor]:
    yield x


def test_a_result_that_a_graph_would_keep_is_refused() -> None:
    with pytest.raises(CapturelintError) as raised:
        runner(Case(lambda x: {"y": x * 2, "rows": x.shape[0]}, one))
    assert str(raised.value) == (
        "the callable returns 3 as `rows` at size 3, and 1 at size 1;"
        " a graph keeps one: return tensors only"
    )
    with pytest.raises(CapturelintError, match="returns generator, which computes after the call"):
        runner(Case(_later, one))
    run = runner(Case(lambda x: (x * 2, "name", None, 3), one))
    assert run(rows(2))[1:] == ("name", None, 3)


def test_a_case_of_another_form_is_one_line() -> None:
    for given, told in ((abs, "a builtin_function_or_method"), ((abs, one, 3), "a tuple of 3")):
        with pytest.raises(CapturelintError) as raised:
            runner(given)  # type: ignore[arg-type] # that is the mistake
        assert str(raised.value) == f"case is {told}; give (module, inputs), or a capturelint.Case"
