"""Buffers and modules that exchange their places: a graph keeps using those of its capture."""

from __future__ import annotations

from collections import deque

import torch
from torch import Tensor, nn

from tests.written_inputs import WIDTH, ones, x, zeros


class Pair(nn.Module):
    """Two buffers of equal shape, zeros and ones."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.zeros(2, WIDTH))
        self.register_buffer("b", torch.ones(2, WIDTH))
        self.a: Tensor
        self.b: Tensor


class Read(Pair):
    def forward(self, x: Tensor) -> Tensor:
        y = x + self.a
        self.a, self.b = self.b, self.a  # blamed: buffers_that_are_read
        return y


def buffers_that_are_read() -> object:
    """stale-on-replay."""
    return Read(), x()


class Written(Pair):
    def forward(self, x: Tensor) -> Tensor:
        out = self.a + x
        self.b.copy_(x)
        self.a, self.b = self.b, self.a  # blamed: buffers_that_are_written
        return out


def buffers_that_are_written() -> object:
    """stale-on-replay."""
    return Written(), x()


class Alone(Pair):
    def forward(self, x: Tensor) -> Tensor:
        self.a, self.b = self.b, self.a  # blamed: buffers_that_nothing_reads
        return x * 2


def buffers_that_nothing_reads() -> object:
    """stale-on-replay."""
    return Alone(), x()


class Scratch(nn.Module):
    """Two tensors that each call fills before it reads them: which one is used does not matter."""

    def __init__(self) -> None:
        super().__init__()
        self.now, self.next = zeros(), zeros()

    def forward(self, x: Tensor) -> Tensor:
        self.next.copy_(x)
        self.now, self.next = self.next, self.now
        return self.now * 2


def scratch_that_is_filled_first() -> object:
    """replays-equal."""
    return Scratch(), x()


class Turned(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.ring = deque([zeros(), ones(), ones() * 2])

    def forward(self, x: Tensor) -> Tensor:
        y = x + self.ring[0]
        self.ring.rotate(1)  # blamed: a_ring_of_three
        return y


def a_ring_of_three() -> object:
    """stale-on-replay."""
    return Turned(), x()


class Modules(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.p, self.q = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.p(x)
        self.p, self.q = self.q, self.p  # blamed: modules
        return y


def modules() -> object:
    """stale-on-replay."""
    return Modules(), x()
