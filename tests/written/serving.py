"""Caches, samplers and routing as models are served with them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.written_inputs import WIDTH, x


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)


class Concatenates(Block):
    def __init__(self) -> None:
        super().__init__()
        self.keys: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        new: Tensor = self.linear(x)
        kept = new if self.keys is None else torch.cat([self.keys, new])
        self.keys = kept[-16:]  # blamed: a_cache_that_grows
        return x @ self.keys.T


def a_cache_that_grows() -> object:
    """stale-on-replay."""
    return Concatenates(), x()


class Static(Block):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(16, WIDTH))
        self.register_buffer("position", torch.zeros((), dtype=torch.long))
        self.keys: Tensor
        self.position: Tensor

    def forward(self, x: Tensor) -> Tensor:
        places = (self.position + torch.arange(2, device=x.device)) % 16
        self.keys.index_copy_(0, places, self.linear(x))
        self.position.add_(2)
        return x @ self.keys.T


def a_cache_of_fixed_size_with_a_position_on_the_device() -> object:
    """replays-equal."""
    return Static(), x()


class Counted(Block):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(64, WIDTH))
        self.keys: Tensor
        self.position = 0

    def forward(self, x: Tensor) -> Tensor:
        self.keys[self.position : self.position + 2] = self.linear(x)
        self.position = (self.position + 2) % 64  # blamed: a_cache_with_a_position_of_python
        return x @ self.keys.T


def a_cache_with_a_position_of_python() -> object:
    """stale-on-replay."""
    return Counted(), x()


class Routes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(WIDTH, 2)
        self.experts = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.router(x).softmax(-1).topk(1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            rows, slot = torch.where(chosen == number)  # blamed: experts_of_the_rows_they_get
            out.index_add_(0, rows, expert(x[rows]) * weights[rows, slot, None])
        return out


def experts_of_the_rows_they_get() -> object:
    """refuses-capture."""
    return Routes(), x()


class Samples(Block):
    def forward(self, x: Tensor) -> Tensor:
        chances, tokens = self.linear(x).softmax(-1).sort(-1, descending=True)
        chances = chances.masked_fill(chances.cumsum(-1) - chances > 0.8, 0.0)
        sampled: Tensor = tokens.gather(-1, torch.multinomial(chances, 1))
        return sampled


def a_sampler_of_the_likeliest() -> object:
    """replays-equal."""
    return Samples(), x()


class Streams(Block):
    def forward(self, x: Tensor) -> object:
        return (self.linear(x) * number for number in range(2))


def what_is_computed_after_the_call() -> object:
    """Undecided."""
    return Streams(), x()
