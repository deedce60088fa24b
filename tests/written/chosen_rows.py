"""Modules that receive as many rows as values say: what calls them is refused at lines of its own."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from tests.written_inputs import WIDTH

_EXPERTS = 3
_ROWS = 9

Given = tuple[nn.Module, Callable[[int], tuple[Tensor]]]


class Loop(nn.Module):
    """`experts`: not every one is called in every step, and with other numbers of rows."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(WIDTH, _EXPERTS)
        self.experts = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(_EXPERTS))

    def forward(self, x: Tensor) -> Tensor:
        chosen = self.router(x).argmax(-1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            rows = torch.where(chosen == number)[0]  # blamed: experts, experts_deep
            out[rows] = expert(x[rows])
        return out


class Deep(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(WIDTH, WIDTH)
        self.loop = Loop()

    def forward(self, x: Tensor) -> object:
        x = self.loop(self.first(x))
        return x * x.max().item()  # blamed: experts_deep


def _inputs(seed: int) -> tuple[Tensor]:
    return (torch.randn(_ROWS, WIDTH, generator=torch.Generator().manual_seed(seed)),)


def experts() -> Given:
    """refuses-capture."""
    return Loop(), _inputs


def experts_deep() -> Given:
    """refuses-capture."""
    return Deep(), _inputs
