"""What float32 tells apart by little is run in float64, and what differs there too is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402 - needs torch

from capturelint.debug.attempts.part import Call, Part  # noqa: E402
from capturelint.debug.settings import Settings  # noqa: E402
from capturelint.rewrite.proof.gradients import little, noise_of, told_apart  # noqa: E402
from capturelint.rewrite.proof.rounding import Rounding  # noqa: E402
from capturelint.rewrite.proof.trial import Bench, Input  # noqa: E402

if TYPE_CHECKING:
    from tests.conftest import InFork

# Added up in this order, float32 loses 1e-4 of their sum.
_NUMBERS = (4e3, 1.2345, -4e3)

_Code = Callable[["_Model", Tensor], Tensor]


class _Model(nn.Module):
    """Runs a function that may be another one for a while."""

    def __init__(self, code: _Code) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.tensor(_NUMBERS))
        self.register_buffer("seen", torch.zeros(3))
        self.code = code

    def forward(self, x: Tensor) -> Tensor:
        return self.code(self, x)

    @contextmanager
    def running(self, code: _Code) -> Iterator[None]:
        old, self.code = self.code, code
        yield
        self.code = old


def _in_order(self: _Model, x: Tensor) -> Tensor:
    one = self.w * x
    return (one[0] + one[1]) + one[2]


def _in_other_order(self: _Model, x: Tensor) -> Tensor:
    one = self.w * x
    return (one[0] + one[2]) + one[1]


def _bench(model: _Model, *, rtol: float | None = None) -> Bench:
    backend = SimpleNamespace(seed=lambda _: None, spent=lambda: "")
    instance = SimpleNamespace(prepare=None, state=SimpleNamespace(watching=nullcontext))
    modules = SimpleNamespace(from_start=nullcontext)
    part = Part("", "_Model", model, ())
    given: tuple[Any, ...] = (part, instance, modules, backend, Settings(rtol=rtol), lambda: None)
    return Bench(*given)


def _told(
    new: _Code, *, rtol: float | None = None, held: Tensor | None = None, old: _Code = _in_order
) -> str:
    model = _Model(old)
    model.register_buffer("held", held)
    bench = _bench(model, rtol=rtol)
    one = Input("as recorded", (Call((torch.ones(3),), {}),))
    before = bench.came(one.calls)
    with model.running(new):
        after = bench.came(one.calls)
    assert bench.difference(before, after), "float32 alone tells them apart"
    found = Rounding(bench, new=lambda: model.running(new)).difference(one, before, after)
    assert {tensor.dtype for tensor in model.state_dict().values()} == {torch.float32}
    return found


def test_sums_in_another_order_are_the_same() -> None:
    assert _told(_in_other_order) == ""


@pytest.mark.parametrize(
    "new",
    [
        lambda self, x: _in_order(self, x) * 1.0001,
        lambda self, x: _in_other_order(self, x) + self.seen.sum() + 5e-5,
        lambda self, x: _in_other_order(self, x) * (x.dtype is not torch.float64),
        lambda self, x: _in_other_order(self, x).float(),
        lambda self, x: _in_other_order(self, x).half().float(),
        lambda self, x: _in_other_order(self, x * 1.001),
        lambda self, x: _in_other_order(self, x.numpy(force=True)),
    ],
    ids=["factor", "shift", "nothing", "float32 alone", "half", "far", "raises"],
)
def test_what_differs_in_float64_too_is_told(new: _Code) -> None:
    assert _told(new)


def test_what_cannot_be_of_float64_is_told() -> None:
    assert _told(_in_other_order, held=_Narrow([1.0]))


class _Narrow(Tensor):
    """A tensor that cannot be converted."""

    def double(self, *_: object, **__: object) -> Tensor:
        raise TypeError("no float64")


def test_a_tolerance_of_the_user_holds() -> None:
    assert _told(_in_other_order, rtol=1e-6)


def test_gradients_that_are_added_up_in_another_order_are_the_same(in_fork: InFork) -> None:
    in_fork(_compare_gradients)


def _compare_gradients() -> None:
    assert (
        _slopes_told(_one_by_one, lambda self, x: self.w[1] * x + (self.w[0] * x + self.w[2] * x))
        == ""
    )
    assert _slopes_told(
        _one_by_one, lambda self, x: (self.w[1] * x + (self.w[0] * x + self.w[2] * x)) * 1.0001
    )


def _one_by_one(self: _Model, x: Tensor) -> Tensor:
    return (self.w[0] * x + self.w[1] * x) + self.w[2] * x


@pytest.mark.parametrize(
    ("noise", "shift", "is_same"),
    [(1e-4, 1e-4, True), (1e-4, 1e-2, False), (0.0, 1e-4, False), (1.0, 1.0, False)],
    ids=["as old runs", "more than old runs", "old runs agree", "old runs are far apart"],
)
def test_what_old_runs_differ_by_is_no_difference(
    noise: float, shift: float, in_fork: InFork, *, is_same: bool
) -> None:
    in_fork(lambda: _compare_noise(noise, shift, is_same=is_same))


def _compare_noise(noise: float, shift: float, *, is_same: bool) -> None:
    def noisy() -> _Code:
        runs = iter((0.0, 1.0, -1.0) * 9)
        return lambda _, x: x * (3.0 + noise * next(runs))

    def shifted(_: _Model, x: Tensor) -> Tensor:
        return x * (3.0 + shift)

    assert (_slopes_told(noisy(), shifted) == "") == is_same
    assert (_told(shifted, old=noisy()) == "") == is_same


@pytest.mark.parametrize(
    ("shift", "wrong", "is_same"),
    [(0.4, 0.0, True), (9.0, 0.0, False), (0.4, 2e-7, True), (0.4, 1e-3, False)],
    ids=["as old runs", "of another size", "as old runs in float64", "more than those"],
)
def test_float64_decides_where_float32_differs_by_much_from_run_to_run(
    shift: float, wrong: float, in_fork: InFork, *, is_same: bool
) -> None:
    in_fork(lambda: _compare_magnified(shift, wrong, is_same=is_same))


def _compare_magnified(shift: float, wrong: float, *, is_same: bool) -> None:
    runs = iter((0.0, 0.3, -0.3) * 9)

    def noisy(_: _Model, x: Tensor) -> Tensor:
        apart = next(runs)
        return x * (3.0 + apart * (1.0 if x.dtype is torch.float32 else 1e-6))

    def shifted(_: _Model, x: Tensor) -> Tensor:
        return x * (3.0 + shift * (x.dtype is torch.float32) + wrong)

    assert (_slopes_told(noisy, shifted) == "") == is_same


def test_gradients_that_cancel_may_differ_by_little_of_the_largest(in_fork: InFork) -> None:
    in_fork(_compare_cancelled)


def _compare_cancelled() -> None:
    old = {"a": _of(1e3), "b": _of(1e-4)}
    noise = noise_of(old, {"a": _of(1e3), "b": _of(2e-4)})
    assert noise == {"b": pytest.approx(1e-4)}
    assert little(noise, old) == noise
    assert little({"b": 1e-4}, {"b": _of(1e-4)}) == {}
    assert noise_of({"b": _of(1e-4)}, {"b": None}) == {}
    assert noise_of({"b": _of(float("nan"))}, {"b": _of(float("nan"))}) == {}
    assert noise_of({"b": _of(1.0)}, {"b": _of(float("inf"))}) == {}


def _of(number: float) -> Tensor:
    found: Tensor = torch.full((1,), number)
    return found


def test_gradients_that_overflow_in_another_order_are_the_same(in_fork: InFork) -> None:
    in_fork(_compare_overflow)


def _compare_overflow() -> None:
    most, less = 3e38, 2.5e38  # three halves of either pass the largest float32

    def one_by_one(_: _Model, x: Tensor) -> Tensor:
        return x * most + x * most + x * most - x * less - x * less - x * less

    def by_sign(_: _Model, x: Tensor) -> Tensor:
        first, second = x * 1, x * 1
        added = first * most + first * most + first * most
        return added - second * less - second * less - second * less

    def of_nothing(_: _Model, x: Tensor) -> Tensor:
        return one_by_one(_, x) + (x - 1).sqrt() * 0

    assert _slopes_told(one_by_one, by_sign) == ""
    assert _slopes_told(one_by_one, of_nothing)


def _slopes_told(old: _Code, new: _Code) -> str:
    model = _Model(old)
    bench = _bench(model)
    one = Input("as recorded", (Call((torch.ones(1),), {}),))
    before = bench.gradients(one.calls)
    with model.running(new):
        after = bench.gradients(one.calls)
    assert told_apart(before, after, bench.tolerance), "float32 alone tells them apart"
    return Rounding(bench, new=lambda: model.running(new)).gradient_difference(one, before, after)
