"""Tensors that are bound anew before each step: a graph goes on reading what was there at first."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

import capturelint
from tests.written_inputs import SHAPE, WIDTH


def _rows(seed: int) -> tuple[Tensor]:
    return (torch.randn(SHAPE, generator=torch.Generator().manual_seed(seed)),)


class _Adds(nn.Module):
    """Adds what the context holds."""

    def __init__(self, context: Any) -> None:
        super().__init__()
        self.context = context
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x) + self.context.bias
        return y


def _context(**more: Any) -> Any:
    return SimpleNamespace(bias=torch.ones(WIDTH, device="cuda"), **more)


def _case(context: Any, prepare: Callable[[int], object]) -> object:
    return capturelint.Case(_Adds(context), _rows, prepare=prepare)


def other_contents_at_another_address() -> object:
    """stale-on-replay."""
    context = _context()

    def prepare(step: int) -> None:
        bias = torch.full((WIDTH,), float(step), device="cuda")
        context.bias = bias  # blamed: other_contents_at_another_address

    return _case(context, prepare)


def equal_contents_at_another_address() -> object:
    """stale-on-replay."""
    context = _context()

    def prepare(_: int) -> None:
        context.bias = context.bias.clone()  # blamed: equal_contents_at_another_address

    return _case(context, prepare)


class _Looks(nn.Module):
    """Adds the table that is listed first."""

    def __init__(self, tables: list[Tensor]) -> None:
        super().__init__()
        self.tables = tables

    def forward(self, x: Tensor) -> Tensor:
        return x * 2 + self.tables[0]


def an_item_of_a_list_made_anew() -> object:
    """stale-on-replay."""
    tables = [torch.ones(WIDTH, device="cuda")]

    def prepare(_: int) -> None:
        tables[0] = torch.ones(WIDTH, device="cuda")  # blamed: an_item_of_a_list_made_anew

    return capturelint.Case(_Looks(tables), _rows, prepare=prepare)


class _Shifts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("shift", torch.ones(WIDTH))
        self.shift: Tensor

    def forward(self, x: Tensor) -> Tensor:
        return x * 2 + self.shift


def a_buffer_registered_anew() -> object:
    """stale-on-replay."""
    model = _Shifts()

    def prepare(_: int) -> None:
        model.shift = torch.ones(WIDTH, device="cuda")  # blamed: a_buffer_registered_anew

    return capturelint.Case(model, _rows, prepare=prepare)


def contents_copied_into_the_same_memory() -> object:
    """replays-equal."""
    context = _context()

    def prepare(step: int) -> None:
        context.bias.copy_(torch.full((WIDTH,), float(step), device="cuda"))

    return _case(context, prepare)


def a_view_of_the_same_memory_made_anew() -> object:
    """replays-equal."""
    context = _context(memory=torch.zeros(2 * WIDTH, device="cuda"))

    def prepare(step: int) -> None:
        context.bias = context.memory[:WIDTH]
        context.bias.fill_(float(step))

    return _case(context, prepare)


def what_the_graph_does_not_read_made_anew() -> object:
    """replays-equal."""
    context = _context(other=None)

    def prepare(step: int) -> None:
        context.other = torch.full((WIDTH,), float(step), device="cuda")

    return _case(context, prepare)


def a_temporary_of_the_preparation() -> object:
    """replays-equal."""
    context = _context()

    def prepare(step: int) -> None:
        steps = torch.arange(WIDTH, device="cuda") + step
        context.bias.copy_(steps.float() / 10)

    return _case(context, prepare)


def the_same_tensor_bound_again() -> object:
    """replays-equal."""
    context = _context()
    bias = context.bias

    def prepare(step: int) -> None:
        bias.fill_(float(step))
        context.bias = bias

    return _case(context, prepare)
