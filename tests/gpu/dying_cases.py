"""Cases that kill the device: under a graph only, and eagerly too."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

import capturelint

B, D = 8, 1024  # batch, width
MIB = 1 << 20


def inputs(seed: int) -> Tensor:
    """Return x: (B, D) float32."""
    return torch.randn(B, D, generator=torch.Generator().manual_seed(seed))


class Gathers(nn.Module):
    """Reads rows whose numbers are good in each eager call, in other memory than before."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(4, D))
        self.rows = torch.zeros(B, dtype=torch.int64)

    def forward(self, x: Tensor) -> Tensor:
        scaled = x * 2
        found = self.table[self.rows]  # gathered
        return scaled + found


def gathering() -> capturelint.Case:
    gathers = Gathers()
    buffers = [torch.zeros(B, dtype=torch.int64, device="cuda") for _ in range(2)]

    def prepare(step: int) -> None:
        buffers[(step + 1) % 2].fill_(100_000)  # as what takes over freed memory does
        gathers.rows = buffers[step % 2].fill_(step % 4)

    return capturelint.Case(_between(gathers), inputs, prepare=prepare)


class Adds(nn.Module):
    """Adds what lies in memory that is replaced before each step, with a kernel of Triton's."""

    def __init__(self) -> None:
        super().__init__()
        self.kernel: Any = None
        self.held = torch.zeros(1)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.empty_like(x)
        self.kernel[(x.numel() // D,)](x, self.held, y, block=D)  # launched
        return y * 2


def unmapping() -> capturelint.Case:
    adds = Adds()
    adds.kernel = import_module(
        "triton_kernels"
    ).add  # beside this file, which is run as a script is
    sizes = itertools.count(64)

    def prepare(step: int) -> None:
        # Of a size of its own, made before the last is freed: an address is not given out twice.
        held = torch.zeros(next(sizes) * MIB // 4, device="cuda")
        adds.held = held.fill_(float(step))
        torch.cuda.empty_cache()

    return capturelint.Case(_between(adds), inputs, prepare=prepare)


class Picks(nn.Module):
    """Is given rows that are out of range in step 3, eagerly as in a replay."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(4, D))

    def forward(self, x: Tensor, rows: Tensor) -> Tensor:
        return x + self.table[rows]


def picking() -> tuple[nn.Module, Callable[[int], tuple[Tensor, Tensor]]]:
    def with_rows(seed: int) -> tuple[Tensor, Tensor]:
        return inputs(seed), torch.full((B,), 100_000 if seed == 3 else seed % 4)

    return Picks().eval(), with_rows


def _between(module: nn.Module) -> nn.Module:
    return nn.Sequential(nn.Linear(D, D), nn.Sequential(module, nn.ReLU()), nn.Linear(D, D)).eval()
