"""Old and new code on the same inputs: what counts as a difference, and what ends the comparison."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

torch = pytest.importorskip("torch")

from capturelint.debug.attempts.part import Call, Part  # noqa: E402 - needs torch
from capturelint.debug.backend import SpentError  # noqa: E402
from capturelint.debug.settings import Settings  # noqa: E402
from capturelint.rewrite.proof.choosing import UnlikeError, checked_where  # noqa: E402
from capturelint.rewrite.proof.gradients import (  # noqa: E402
    gradient_difference,
    gradients_of,
    is_filled,
    told_apart,
)
from capturelint.rewrite.proof.trial import Bench, Held, Input, is_exact, shares_less  # noqa: E402

if TYPE_CHECKING:
    from torch import Tensor

    from capturelint.debug.attempts.compare import Tolerance
    from tests.conftest import InFork


def _bench(run: Callable[..., object], *, lost: str = "") -> Bench:
    backend = SimpleNamespace(seed=lambda _: None, spent=lambda: lost)
    state = SimpleNamespace(watching=nullcontext)
    instance = SimpleNamespace(prepare=None, state=state)
    modules = SimpleNamespace(from_start=nullcontext)
    part = Part("", "f", run, ())
    given: tuple[Any, ...] = (part, instance, modules, backend, Settings(), lambda: None)
    return Bench(*given)


def _difference(old: Callable[..., object], new: Callable[..., object]) -> str:
    calls = (Call((torch.ones(2, 3),), {}),)
    one, other = (_bench(run).came(calls) for run in (old, new))
    return _bench(old).difference(one, other)


def test_code_that_computes_the_same_has_no_difference() -> None:
    assert _difference(lambda x: x * 2, lambda x: x + x) == ""


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (lambda x: x * 3, "result is"),
        (lambda x: (x * 2).double(), "result is"),
        (lambda x: (x * 2).t().contiguous().t(), "result has another memory layout"),
        (lambda x: x.mul_(2), "other arguments are written"),
        (lambda x: x.view(9), "the old code returns, the new code raises RuntimeError: "),
    ],
)
def test_a_difference_is_told_in_words(new: Callable[[Tensor], Tensor], words: str) -> None:
    assert _difference(lambda x: x * 2, new).startswith(words)


def test_code_that_raises_the_same_has_no_difference() -> None:
    assert _difference(lambda x: x.view(9), lambda x: x.view(7)) == ""
    assert _difference(lambda x: x.view(9), lambda x: x.nothing).endswith("raises AttributeError: "
        "'Tensor' object has no attribute 'nothing'")  # fmt: skip


def test_a_lost_device_ends_the_comparison() -> None:
    calls = (Call((torch.ones(2, 3),), {}),)
    bench = _bench(lambda x: x.view(9), lost="the device is lost")

    with pytest.raises(SpentError, match="the device is lost"):
        bench.came(calls)
    with pytest.raises(SpentError, match="the device is lost"):
        bench.gradients(calls)


def test_a_result_that_no_longer_shares_memory_is_noticed() -> None:
    calls = (Call((torch.ones(2, 3),), {}),)
    own, copy = (_bench(run).came(calls) for run in (lambda x: x, lambda x: x.clone()))

    assert shares_less(own, copy)
    assert not shares_less(copy, own)
    assert is_exact(own, copy)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (torch.ones(2), torch.ones(2, 1)),
        (torch.ones(2), torch.ones(2).double()),
        (torch.ones(2), 1.0),
        (None, torch.ones(2)),
    ],
)
def test_a_choice_between_unlike_things_is_refused(first: object, second: object) -> None:
    with pytest.raises(UnlikeError):
        checked_where(torch.tensor(True), first, second)


def test_a_choice_by_more_than_one_truth_value_is_refused() -> None:
    with pytest.raises(UnlikeError):
        checked_where(torch.tensor([True]), torch.ones(2), torch.ones(2))
    assert torch.equal(
        checked_where(torch.tensor(False), torch.ones(2), torch.zeros(2)), torch.zeros(2)
    )


def test_gradients_tell_a_nan_from_a_zero(in_fork: InFork) -> None:
    in_fork(_compare_gradients)


def _compare_gradients() -> None:
    from capturelint.debug.attempts.compare import Tolerance

    calls = (Call((torch.zeros(3),), {}),)
    good = gradients_of(lambda x: x * 2, calls)
    bad = gradients_of(lambda x: torch.where(x > 0, x.sqrt(), x * 2), calls)
    tolerance: Tolerance = Tolerance()

    assert gradient_difference(good, good, tolerance) == ""
    assert gradient_difference(good, bad, tolerance).startswith("the gradient of input 0")
    assert gradients_of(lambda x: cast("Tensor", x).detach(), calls) == {"input 0.0": None}
    cache = SimpleNamespace(kept=torch.zeros(3))
    _bench(_kept_in(cache)).gradients((Call((torch.ones(3), cache), {}),))
    assert torch.equal(cache.kept, torch.zeros(3))


def test_gradients_are_told_of_leaves_that_are_no_parameters() -> None:
    scale, other = torch.zeros((), requires_grad=True), torch.ones((), requires_grad=True)
    calls = (Call((torch.ones(3),), {}),)
    old = gradients_of(lambda x: x * scale.exp() * other + scale, calls)
    new = gradients_of(lambda x: x * scale.exp().item() * other + scale.item(), calls)
    leaf = "a tensor of shape () that is no parameter ({})"

    assert [name for name in old if name != "input 0.0"] == [leaf.format(0), leaf.format(1)]
    assert gradient_difference(old, new, _bench(len).tolerance).startswith(
        "the gradient of a tensor"
    )
    assert set(gradients_of(lambda _: other, calls)) == {"input 0.0", leaf.format(0)}


def test_weights_may_be_others_and_come_back(in_fork: InFork) -> None:
    in_fork(_run_with_other_weights)


def _run_with_other_weights() -> None:
    from capturelint.debug.attempts.compare import Tolerance

    layer = torch.nn.Linear(3, 1)
    layer.register_buffer("offset", torch.ones(1))
    before = {name: one.clone() for name, one in layer.state_dict().items()}
    bench, calls = _bench(layer), (Call((torch.ones(2, 3),), {}),)
    plain, turned = bench.came(calls).seen, bench.came(calls, Held(weights=-1.0)).seen
    assert plain is not None and turned is not None
    told = bench.gradients(calls, Held(weights=0.0)), bench.gradients(calls)

    from capturelint.debug.trees.parked import shown

    assert torch.equal(cast("Tensor", shown(plain.result)), -cast("Tensor", shown(turned.result)))
    assert told_apart(*told, Tolerance()).startswith("the gradient of input 0")
    assert all(torch.equal(one, before[name]) for name, one in layer.state_dict().items())
    assert bench.has_weights
    assert Input("and weights times 0", calls, Held(weights=0.0)).has_slopes
    assert not Input("and buffers of 0", calls, Held(buffers=0.0)).has_slopes


def test_what_overflows_may_be_infinite_or_nan(in_fork: InFork) -> None:
    in_fork(_compare_overflow)


def _compare_overflow() -> None:
    from capturelint.debug.attempts.compare import Tolerance

    old = {"input 0.0": torch.tensor([math.inf, 1.0])}
    new = {"input 0.0": torch.tensor([math.nan, 1.0])}
    other = {"input 0.0": torch.tensor([math.nan, 2.0])}
    none = {"input 0.0": torch.tensor([math.nan, math.nan])}

    assert gradient_difference(old, new, Tolerance(), may_overflow=True) == ""
    assert gradient_difference(old, new, Tolerance()).startswith(
        "the gradient of input 0.0 differs"
    )
    for wrong in (other, none):
        assert gradient_difference(old, wrong, Tolerance(), may_overflow=True)


def test_a_cache_that_steps_share_keeps_no_graph(in_fork: InFork) -> None:
    in_fork(_run_twice_on_one_cache)


def _run_twice_on_one_cache() -> None:
    from capturelint.debug.attempts.compare import Tolerance

    def run(x: Tensor, cache: SimpleNamespace) -> Tensor:
        return cast("Tensor", cache.kept.mul_(x).sin())

    cache = SimpleNamespace(kept=torch.zeros(3))
    bench = _bench(run)
    calls = (Call((torch.ones(3), cache), {}, shared=(cache,)),)
    first, second = (bench.gradients(calls) for _ in range(2))

    assert told_apart(first, second, Tolerance()) == ""
    assert not cache.kept.requires_grad


def _kept_in(own: SimpleNamespace) -> Callable[..., Tensor]:
    def run(x: Tensor, cache: SimpleNamespace) -> Tensor:
        assert cache is not own
        cache.kept = cache.kept + x
        return cast("Tensor", cache.kept)

    return run


def test_a_gradient_that_was_not_there_may_only_be_zero(in_fork: InFork) -> None:
    in_fork(_compare_new_gradients)


def _compare_new_gradients() -> None:
    from capturelint.debug.attempts.compare import Tolerance

    calls = (Call((torch.zeros(3),), {}),)
    none = gradients_of(lambda x: torch.zeros_like(cast("Tensor", x)), calls)
    zero = gradients_of(lambda x: x * 0, calls)
    nan = gradients_of(lambda x: x.sqrt() * 0, calls)

    assert gradient_difference(none, zero, Tolerance()) == ""
    assert gradient_difference({}, zero, Tolerance()) == ""
    assert gradient_difference(none, nan, Tolerance()).startswith("the gradient of input 0")
    assert gradient_difference({}, nan, Tolerance()).startswith("the gradient of input 0")
    assert is_filled(none, zero)
    assert not is_filled(zero, zero)
