"""What the clock and the system give: another value in each call, which a graph fixes."""

from __future__ import annotations

import os
import random
import time
import uuid

import torch
from torch import Tensor, nn

from tests.written_inputs import x


class Scales(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * (1 + time.perf_counter() % 7)  # blamed: the_clock


def the_clock() -> object:
    """stale-on-replay."""
    return Scales(), x()


class Asks(nn.Module):
    """Computes something else while capturing, which two eager runs that differ do not show."""

    def forward(self, x: Tensor) -> Tensor:
        if torch.cuda.is_current_stream_capturing():
            x = x * 2
        return x * (1 + time.perf_counter() % 7)  # blamed: the_clock_besides_a_capture_test


def the_clock_besides_a_capture_test() -> object:
    """stale-on-replay."""
    return Asks(), x()


class Systems(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.system = random.SystemRandom()

    def forward(self, x: Tensor) -> Tensor:
        return x * self.system.random()  # blamed: numbers_of_the_system


def numbers_of_the_system() -> object:
    """stale-on-replay."""
    return Systems(), x()


class Unique(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * (uuid.uuid4().int % 1009)  # blamed: a_unique_name


def a_unique_name() -> object:
    """stale-on-replay."""
    return Unique(), x()


class Bytes(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * int.from_bytes(os.urandom(2), "big")  # blamed: bytes_of_the_system


def bytes_of_the_system() -> object:
    """stale-on-replay."""
    return Bytes(), x()
