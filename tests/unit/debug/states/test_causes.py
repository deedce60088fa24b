"""The line that makes each change of state is found by tracing one run."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from capturelint.debug.states.causes import writers
from capturelint.debug.states.state import State

_count = 0


def lines(root: object, run: Callable[[], object]) -> dict[str, str]:
    """Return the text of the line that makes each change of `run`."""
    state = State([root])
    before = state.save()
    with state.watching():
        run()
    changes = state.changes(before, state.save())
    state.restore(before)
    try:
        return {name: place.source for name, place in writers(run, state, changes).items()}
    finally:
        state.restore(before)


class Counter(nn.Module):
    """Each change stands on a line of its own."""

    made: Any
    acc: Any
    hidden: Any

    def __init__(self) -> None:
        super().__init__()
        self.step = 0
        self.cache: list[Any] = []
        self.acc = torch.zeros(2)
        self.holder = SimpleNamespace(count=0)
        self.position = torch.zeros(1)
        self.linear = nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        global _count  # noqa: PLW0603 - what is tested
        x = self.linear(x)
        self.step += 1
        _count += 1
        self.cache.append(x)
        self.acc = self.acc + 1
        self.made = 3
        self.holder.count += 1
        self.position.add_(1)
        y = x * self.step
        if random.random() < 2:
            y = y + 1
        torch.rand(1)
        return y


def test_the_line_of_each_change_is_named() -> None:
    model = Counter()

    assert lines(model, lambda: model(torch.ones(1, 2))) == {
        "acc": "self.acc = self.acc + 1",
        "cache": "self.cache.append(x)",
        "global _count": "_count += 1",
        "holder.count": "self.holder.count += 1",
        "made": "self.made = 3",
        "position": "self.position.add_(1)",
        "random": "if random.random() < 2:",
        "step": "self.step += 1",
        "torch CPU generator": "torch.rand(1)",
    }


def test_a_place_has_file_line_and_function() -> None:
    model = Counter()
    state = State([model])
    before = state.save()
    model(torch.ones(1, 2))
    changes = state.changes(before, state.save())

    place = writers(lambda: model(torch.ones(1, 2)), state, changes)["step"]

    assert place.path == __file__
    assert place.line == Counter.forward.__code__.co_firstlineno + 3
    assert place.function.endswith("forward")


class Helper:
    def __init__(self) -> None:
        self.count = 0

    def bump(self) -> int:
        self.count += 1
        return self.count


class Delegating(nn.Module):
    last: Any

    def __init__(self) -> None:
        super().__init__()
        self.helper = Helper()
        self.total = 0

    def forward(self) -> None:
        self.total = 1 + self.helper.bump()


def test_a_helper_is_blamed_for_what_it_changes_and_its_caller_for_the_rest() -> None:
    model = Delegating()

    assert lines(model, model) == {
        "helper.count": "self.count += 1",
        "total": "self.total = 1 + self.helper.bump()",
    }


class Twice(nn.Module):
    mode: Any

    def __init__(self) -> None:
        super().__init__()
        self.mode = 0

    def forward(self) -> None:
        self.mode = None
        self.mode = torch.ones(1)


def test_of_several_lines_the_last_is_named() -> None:
    model = Twice()

    assert lines(model, model) == {"mode": "self.mode = torch.ones(1)"}


def test_what_a_library_changes_is_blamed_on_the_line_that_calls_it() -> None:
    model = nn.Sequential(nn.BatchNorm1d(2))

    def run() -> None:
        x = torch.ones(3, 2)
        model(x)
        x.sum()

    assert set(lines(model, run).values()) == {"model(x)"}


def test_closures_defaults_and_generators_are_followed() -> None:
    count, own = 0, random.Random(0)

    def step(cache: list[int] = []) -> None:  # noqa: B006 - what is tested
        nonlocal count
        count += 1
        cache.append(1)
        own.random()

    assert lines(step, step) == {
        "default cache of step": "cache.append(1)",
        "nonlocal count of step": "count += 1",
        "nonlocal own of step": "own.random()",
    }


def test_errors_of_the_run_pass() -> None:
    model = Twice()
    state = State([model])
    before = state.save()
    model.mode = 1
    changes = state.changes(before, state.save())

    def run() -> None:
        model.mode = 2
        raise LookupError

    with pytest.raises(LookupError):
        writers(run, state, changes)


def test_a_change_that_the_run_does_not_make_is_left_out() -> None:
    model = Twice()
    state = State([model])
    before = state.save()
    model.mode = 1
    changes = state.changes(before, state.save())

    assert writers(lambda: None, state, changes) == {}


@pytest.mark.parametrize("fails", [False, True])
def test_another_tracer_is_put_back(fails: bool) -> None:
    def tracer(*_args: object) -> None: ...

    def run() -> None:
        if fails:
            raise KeyError

    earlier = sys.gettrace()
    sys.settrace(tracer)
    try:
        with suppress(KeyError):
            writers(run, State([Twice()]), [])
        found = sys.gettrace()
    finally:
        sys.settrace(earlier)

    assert found is tracer


def test_what_leads_to_a_value_may_be_missing_meanwhile() -> None:
    class Rebuilt(nn.Module):
        holder: Any

        def __init__(self) -> None:
            super().__init__()
            self.holder = SimpleNamespace(count=0)

        def forward(self) -> None:
            count = self.holder.count
            del self.holder
            self.holder = SimpleNamespace(count=count + 1)

    model = Rebuilt()

    assert lines(model, model) == {"holder.count": "self.holder = SimpleNamespace(count=count + 1)"}
