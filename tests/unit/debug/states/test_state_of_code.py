"""State that code keeps outside of instances is put back: variables, defaults, what hooks hold."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from capturelint.debug.states.state import State

_steps = 0
_table: dict[str, int] = {}


class Counted(nn.Module):
    calls = 0
    made: Any

    def __init__(self) -> None:
        super().__init__()
        self.step = 0


def restored(root: object, change: Callable[[], object]) -> None:
    """Save the state of `root`, change something while watching, and restore it."""
    state = State([root])
    before = state.save()
    with state.watching():
        change()
    state.restore(before)
    assert state.changes(before, state.save()) == ()


def test_variables_of_files_come_back() -> None:
    def change() -> None:
        global _steps, _made  # noqa: PLW0603 - what is tested
        _steps += 1
        _made = 1  # type: ignore[name-defined] # made here, as user code does
        _table["a"] = 1

    restored(Counted(), change)

    assert (_steps, _table) == (0, {})
    assert "_made" not in globals()


def test_attributes_of_classes_come_back() -> None:
    def change() -> None:
        Counted.calls += 1
        Counted.made = 1

    restored(Counted(), change)

    assert Counted.calls == 0
    assert not hasattr(Counted, "made")


def test_variables_of_enclosing_functions_come_back() -> None:
    count, kept = 0, [1]

    def step() -> None:
        nonlocal count
        count += 1
        kept.append(2)

    restored(step, step)

    assert (count, kept) == (0, [1])


def test_default_arguments_come_back() -> None:
    def step(x: int, cache: list[int] = [], *, more: dict[str, int] = {}) -> None:  # noqa: B006 - what is tested
        cache.append(x)
        more["x"] = x

    restored(step, lambda: step(1))

    assert step.__defaults__ == ([],)
    assert step.__kwdefaults__ == {"more": {}}


def test_attributes_of_functions_come_back() -> None:
    def step() -> None:
        step.calls = getattr(step, "calls", 0) + 1  # type: ignore[attr-defined]

    restored(step, step)

    assert not hasattr(step, "calls")


def test_what_a_decorator_holds_comes_back() -> None:
    def counted(function: Callable[[], None]) -> Callable[[], None]:
        count = [0]

        @functools.wraps(function)
        def inner() -> None:
            count[0] += 1
            function()

        inner.count = count  # type: ignore[attr-defined]
        return inner

    class Wrapped(nn.Module):
        @torch.no_grad()
        @counted
        def forward() -> None: ...  # type: ignore[misc]  # called by no module

    restored(Wrapped(), Wrapped.forward)

    assert Wrapped.forward.count == [0]  # type: ignore[attr-defined]


def test_what_hooks_hold_comes_back() -> None:
    model, seen = nn.Linear(1, 1), []

    class Recorder:
        def __init__(self) -> None:
            self.calls = 0

        def __call__(self, *_args: object) -> None:
            self.calls += 1

    recorder = Recorder()
    model.register_forward_hook(lambda *args: seen.append(args))
    model.register_forward_pre_hook(recorder)

    restored(model, lambda: model(torch.ones(1, 1)))

    assert seen == []
    assert recorder.calls == 0


def test_hooks_that_come_and_go_are_left_alone() -> None:
    model = nn.Linear(1, 1)

    restored(model, lambda: model.register_forward_hook(print))

    assert list(model._forward_hooks.values()) == [print]  # noqa: SLF001 - torch tells no other way


def test_the_objects_of_bound_methods_and_partial_functions_come_back() -> None:
    model, kept = Counted(), [1]

    def step(cache: list[int], by: int) -> None:
        cache.append(by)

    restored(functools.partial(step, kept, by=2), lambda: kept.append(5))
    restored(model.extra_repr, lambda: setattr(model, "step", 3))

    assert kept == [1]
    assert model.step == 0
