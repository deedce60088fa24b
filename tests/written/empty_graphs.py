"""Graphs that hold nothing: all work runs elsewhere, or there is none."""

from __future__ import annotations

import threading

import torch
from torch import Tensor, nn

from tests.written_inputs import WIDTH, x


class Doubles(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        with torch.cuda.stream(torch.cuda.default_stream()):
            return x * 2  # blamed: all_of_it_on_the_default_stream, the_only_work_in_a_module_below


def all_of_it_on_the_default_stream() -> object:
    """empty-graph."""
    return Doubles(), x()


def a_function_on_the_default_stream() -> object:
    """empty-graph."""
    kept = torch.zeros(2, WIDTH, device="cuda")

    def step(x: Tensor) -> None:
        with torch.cuda.stream(torch.cuda.default_stream()):
            kept.copy_(x)  # blamed: a_function_on_the_default_stream

    return step, x()


class Copies(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(2, WIDTH))
        self.kept: Tensor

    def forward(self, x: Tensor) -> Tensor:
        worker = threading.Thread(target=self.copy, args=(x,))
        worker.start()
        worker.join()
        return self.kept

    def copy(self, x: Tensor) -> None:
        self.kept.copy_(x)  # blamed: all_of_it_in_a_thread


def all_of_it_in_a_thread() -> object:
    """empty-graph."""
    return Copies(), x()


class Passes(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.inner(x.view(-1, WIDTH))
        return y


def the_only_work_in_a_module_below() -> object:
    """empty-graph."""
    return Passes(Doubles()), x()


def an_identity() -> object:
    """aliases-input."""
    return nn.Identity(), x()


def a_dropout_that_drops_nothing() -> object:
    """aliases-input."""
    return nn.Dropout(0.5).eval(), x()


def only_a_view() -> object:
    """aliases-input."""
    return nn.Flatten(0), x()


class Answers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: Tensor) -> int:
        return x.dim()


def a_number_that_no_kernel_computes() -> object:
    """replays-equal."""
    return Answers(), x()


class Remembers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mask: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.mask is None:
            self.mask = torch.ones(WIDTH, device=x.device)
        return self.mask


def a_constant_that_the_warm_up_made() -> object:
    """replays-equal."""
    return Remembers(), x()
