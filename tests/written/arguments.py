"""Objects passed as arguments: one and the same in each step is state, a new one an input."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.written_inputs import SHAPE, x, zeros


class Cache:
    def __init__(self) -> None:
        self.keys: Tensor | None = None

    def update(self, x: Tensor) -> Tensor:
        self.keys = x if self.keys is None else torch.cat([self.keys, x])  # blamed: one_for_all
        return self.keys

    def reset(self) -> None:
        self.keys = None


class Takes(nn.Module):
    def forward(self, x: Tensor, cache: Cache) -> Tensor:
        return cache.update(x * 2).sum(0)


def one_for_all() -> object:
    """stale-on-replay."""
    cache = Cache()

    def inputs(seed: int) -> object:  # noqa: ARG001 - as users do
        return (*x(), cache)

    return Takes(), inputs


def one_for_each_step() -> object:
    """aliases-input."""

    def inputs(seed: int) -> object:  # noqa: ARG001
        return (*x(), Cache())

    return Takes(), inputs


def one_that_is_reset_for_each_step() -> object:
    """aliases-input."""
    cache = Cache()

    def inputs(seed: int) -> object:  # noqa: ARG001
        cache.reset()
        return (*x(), cache)

    return Takes(), inputs


class Counts(nn.Module):
    def forward(self, x: Tensor, *, past: list[int]) -> Tensor:
        past.append(1)  # blamed: a_list_for_all
        return x * len(past)


def a_list_for_all() -> object:
    """stale-on-replay."""
    past: list[int] = []
    return Counts(), lambda seed: {"x": x()[0], "past": past}


class Static:
    def __init__(self) -> None:
        self.keys = torch.zeros(SHAPE)

    def update(self, x: Tensor) -> Tensor:
        self.keys.mul_(0.5).add_(x)
        return self.keys


class Fills(nn.Module):
    def forward(self, x: Tensor, caches: tuple[Static, ...]) -> Tensor:
        return torch.stack([cache.update(x) for cache in caches]).sum(0)


def caches_written_in_place() -> object:
    """replays-equal."""
    caches = Static(), Static()
    return Fills(), lambda seed: (*x(), caches)


class Reads(nn.Module):
    def forward(self, x: Tensor, options: dict[str, float], table: list[Tensor]) -> Tensor:
        return x * options["scale"] + table[0]


def what_is_only_read() -> object:
    """replays-equal."""
    options, table = {"scale": 2.0}, [zeros()]
    return Reads(), lambda seed: (*x(), options, table)
