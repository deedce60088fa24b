"""Generators on the host and optimizers are put back."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from capturelint.debug.states.state import State


class Model(nn.Module):
    own: Any
    host: Any
    new: Any
    old: Any
    array: Any
    optimizer: Any

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)


def restored(root: object, change: Callable[[], object]) -> None:
    """Save the state of `root`, change something while watching, and restore it."""
    state = State([root])
    before = state.save()
    with state.watching():
        change()
    state.restore(before)
    assert state.changes(before, state.save()) == ()


def test_random_numbers_of_the_host_repeat() -> None:
    state = State([nn.ReLU()])
    before = state.save()

    drawn = random.random(), torch.rand(1).item()
    state.restore(before)

    assert (random.random(), torch.rand(1).item()) == drawn


def test_random_numbers_of_numpy_repeat() -> None:
    numpy = pytest.importorskip("numpy", reason="about numpy's generator")
    state = State([nn.ReLU()])
    before = state.save()

    drawn = numpy.random.rand()
    state.restore(before)

    assert numpy.random.rand() == drawn


def test_generators_and_arrays_that_a_model_keeps_come_back() -> None:
    numpy = pytest.importorskip("numpy", reason="about numpy's generators too")
    model = Model()
    model.own = random.Random(0)
    model.host = torch.Generator().manual_seed(0)
    model.new = numpy.random.default_rng(0)
    model.old = numpy.random.RandomState(0)
    model.array = numpy.zeros(2)

    def drawn() -> list[float]:
        return [
            model.own.random(),
            torch.rand(1, generator=model.host).item(),
            model.new.random(),
            model.old.rand(),
        ]

    first = State([model])
    before = first.save()
    values = drawn()
    model.array += 1
    first.restore(before)

    assert drawn() == values
    assert model.array.tolist() == [0, 0]


def test_an_optimizer_comes_back_to_before_its_first_step() -> None:
    model = Model()
    model.optimizer = torch.optim.Adam(model.linear.parameters(), lr=0.1)
    weight = model.linear.weight.detach().clone()

    def change() -> None:
        model.linear(torch.ones(1, 2)).sum().backward()
        model.optimizer.step()
        model.optimizer.param_groups[0]["lr"] = 0.5

    restored(model, change)

    assert model.optimizer.state == {}
    assert model.optimizer.param_groups[0]["lr"] == 0.1
    assert torch.equal(model.linear.weight, weight)


def test_the_moments_of_an_optimizer_come_back_after_its_first_step() -> None:
    model = Model()
    model.optimizer = torch.optim.Adam(model.linear.parameters(), lr=0.1)

    def step() -> None:
        model.linear(torch.ones(1, 2)).sum().backward()
        model.optimizer.step()

    step()
    moments = {
        key: value.clone() for key, value in model.optimizer.state[model.linear.weight].items()
    }
    restored(model, step)

    after = model.optimizer.state[model.linear.weight]
    assert all(torch.equal(after[key], value) for key, value in moments.items())
