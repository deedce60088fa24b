"""Gradients of the whole case, with the old and the new code of a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")

from capturelint.debug.attempts.part import Call, Part  # noqa: E402 - needs torch
from capturelint.debug.settings import Settings  # noqa: E402
from capturelint.rewrite.proof.trial import Bench  # noqa: E402
from capturelint.rewrite.proof.whole import Whole  # noqa: E402

if TYPE_CHECKING:
    from torch import Tensor

    from tests.conftest import InFork


class _Case:
    """A function that is swapped for another one."""

    def __init__(self) -> None:
        self.function: Callable[[Tensor], Tensor] = lambda x: x * 2

    def __call__(self, x: Tensor) -> Tensor:
        return self.function(x)

    @contextmanager
    def swapped(self, new: Callable[[Tensor], Tensor]) -> Iterator[None]:
        old, self.function = self.function, new
        yield
        self.function = old


def _difference(new: Callable[[Tensor], Tensor], mode: str) -> str:
    run = _Case()
    backend = SimpleNamespace(seed=lambda _: None, spent=lambda: "")
    state = SimpleNamespace(watching=nullcontext)
    instance = SimpleNamespace(prepare=None, state=state, case=SimpleNamespace(mode=mode))
    modules = SimpleNamespace(from_start=nullcontext)
    part = Part("", "f", run, ((Call((torch.ones(2, 3),), {}),),))
    given: tuple[Any, ...] = (part, instance, modules, backend, Settings(), lambda: None)
    whole = Whole([Bench(*given)])
    whole.came()
    return whole.gradient_difference(lambda: run.swapped(new))


def test_a_gradient_of_the_whole_that_differs_is_told(in_fork: InFork) -> None:
    in_fork(_compare)


def _compare() -> None:
    root = _difference(lambda x: x * 2 + x.abs().sqrt() * 0, "train")
    assert root.startswith("around it, the case is not the same with inputs zeros: the gradient")
    assert _difference(lambda x: x + x, "train") == ""
    assert _difference(lambda x: x * 3, "inference") == ""
