"""Tensors are put back: which memory they show, what it holds, gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from capturelint.debug.states.state import Change, State


class Model(nn.Module):
    late: Any

    def __init__(self) -> None:
        super().__init__()
        self.acc = torch.zeros(2)
        self.linear = nn.Linear(2, 2)
        self.norm = nn.BatchNorm1d(2)


def restored(root: object, change: Callable[[], object]) -> None:
    """Save the state of `root`, change something while watching, and restore it."""
    state = State([root])
    before = state.save()
    with state.watching():
        change()
    state.restore(before)
    assert state.changes(before, state.save()) == ()


def test_parameters_buffers_and_submodules_come_back() -> None:
    model = Model()
    weight, linear = model.linear.weight, model.linear

    def change() -> None:
        model.linear.weight = nn.Parameter(torch.ones(2, 2))
        model.late = nn.ReLU()
        model.register_buffer("late_buffer", torch.ones(1))
        model.linear = nn.Linear(2, 2)

    restored(model, change)

    assert model.linear is linear
    assert linear.weight is weight
    assert not hasattr(model, "late")
    assert "late_buffer" not in dict(model.named_buffers())


def test_a_tensor_whose_data_was_exchanged_shows_its_memory_again() -> None:
    model = Model()
    place, values = model.linear.weight.data_ptr(), model.linear.weight.detach().clone()

    restored(model, lambda: setattr(model.linear.weight, "data", torch.ones(3, 3)))

    assert model.linear.weight.data_ptr() == place
    assert torch.equal(model.linear.weight, values)


def test_a_tensor_transposed_in_place_is_turned_back() -> None:
    model = Model()
    model.acc = torch.arange(6.0).view(2, 3)

    restored(model, model.acc.t_)

    assert model.acc.shape == (2, 3)


def test_gradients_and_what_requires_them_come_back() -> None:
    model = Model()

    def change() -> None:
        model.linear(torch.ones(1, 2)).sum().backward()
        model.linear.bias.requires_grad_(False)

    restored(model, change)

    assert model.linear.weight.grad is None
    assert model.linear.bias.requires_grad


def test_buffers_and_written_parameters_hold_their_values_again() -> None:
    model = Model()
    weight = model.linear.weight.detach().clone()

    def change() -> None:
        model.norm(torch.randn(4, 2))
        with torch.no_grad():
            model.linear.weight.mul_(2)
        model.acc.add_(1)

    restored(model, change)

    assert model.norm.num_batches_tracked == 0
    assert model.norm.running_mean is not None
    assert model.norm.running_mean.tolist() == [0, 0]
    assert torch.equal(model.linear.weight, weight)
    assert model.acc.tolist() == [0, 0]


def test_a_buffer_made_in_inference_mode_comes_back() -> None:
    model = Model()
    with torch.inference_mode():
        model.acc = torch.zeros(1)

    def change() -> None:
        with torch.inference_mode():
            model.acc.add_(1)

    restored(model, change)

    assert model.acc.tolist() == [0]


def test_state_is_saved_and_put_back_in_inference_mode_too() -> None:
    model = Model()
    place = model.linear.weight.data_ptr()

    with torch.inference_mode():
        restored(model, lambda: setattr(model.linear.weight, "data", torch.ones(1)))
        restored(model, lambda: model.norm(torch.randn(3, 2)))

    assert model.linear.weight.data_ptr() == place
    assert not model.linear.weight.is_inference()
    model.linear(torch.ones(1, 2)).sum().backward()


def test_the_default_device_of_the_user_does_not_matter() -> None:
    model = Model()
    state = State([model])

    with torch.device("meta"):
        before = state.save()
        model.acc.add_(1)
        found = state.changes(before, state.save())
        state.restore(before)

    assert found == (Change("acc", "host tensor", "0.0 at [0]", "1.0 at [0]"),)
    assert model.acc.tolist() == [0, 0]
