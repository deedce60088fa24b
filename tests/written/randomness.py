"""Random numbers that the code puts back, which a replay does not."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout
from torch.utils.checkpoint import checkpoint

from capturelint.debug.cases.case import Case
from tests.written_inputs import SHAPE, WIDTH, x


class Seeds(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        torch.manual_seed(0)  # blamed: one_seed_in_each_call
        return dropout(x)


def one_seed_in_each_call() -> object:
    """stale-on-replay."""
    return Seeds(), x()


class Forks(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        with torch.random.fork_rng(devices=[0]):  # blamed: numbers_that_are_forked
            return x + torch.randn_like(x)


def numbers_that_are_forked() -> object:
    """stale-on-replay."""
    return Forks(), x()


class Checkpoints(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = checkpoint(lambda z: dropout(self.linear(z)), x, use_reentrant=False)
        (gradient,) = torch.autograd.grad(y.sum(), self.linear.weight)
        return gradient * 1


def a_checkpoint_with_dropout() -> object:
    """replays-equal."""
    return Case(Checkpoints(), lambda seed: torch.randn(SHAPE) + seed, mode="train")


class Cycles(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scales = itertools.cycle([1.0, 2.0, 3.0])

    def forward(self, x: Tensor) -> Tensor:
        return x * next(self.scales)  # blamed: an_iterator


def an_iterator() -> object:
    """stale-on-replay."""
    return Cycles(), x()
