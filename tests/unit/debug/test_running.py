"""Which module is running, and which one an exception left first."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from capturelint.debug.running import modules_of, running


class Raises(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError(x.shape)


class Parent(nn.Module):
    def __init__(self, *, swallows: bool) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.same = self.linear
        self.inner = nn.Sequential(nn.ReLU(), Raises())
        self.swallows = swallows

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            return self.inner(x)
        except ValueError:
            if not self.swallows:
                raise
        return self.linear(x)


def test_paths_are_those_of_first_names() -> None:
    model = Parent(swallows=True)
    modules = modules_of({"": model, "other": nn.ReLU(), "function": len})

    assert modules["linear"] is model.linear
    assert sorted(modules) == ["", "inner", "inner.0", "inner.1", "linear", "other"]


def test_the_modules_of_a_method_are_those_of_its_object() -> None:
    assert list(modules_of({"step": nn.Sequential(nn.ReLU()).forward})) == ["step.0", "step.self"]


def test_the_innermost_module_is_current_while_it_runs() -> None:
    model = Parent(swallows=True)
    seen = []
    with running({"": model}, "") as now:
        model.linear.register_forward_pre_hook(lambda *_: seen.append(now.current()))
        model(torch.ones(1, 2))

        assert seen == ["linear"]
        assert now.calls == {"": 1, "inner": 1, "inner.0": 1, "inner.1": 1, "linear": 1}


def test_the_module_that_an_exception_left_first_is_known() -> None:
    model = Parent(swallows=False)
    with running({"": model}, "") as now, pytest.raises(ValueError, match="1, 2"):
        model(torch.ones(1, 2))

    assert (now.raised_in, now.current()) == ("inner.1", "")


def test_a_swallowed_exception_is_forgotten_and_hooks_are_gone_afterwards() -> None:
    model = Parent(swallows=True)
    with running({"": model}, "") as now:
        model(torch.ones(1, 2))

        assert now.raised_in is None
    before = now.current()
    model.linear(torch.ones(1, 2))

    assert now.current() == before == ""
