"""Runners on the simulated device, for callables of one input x (B, D)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from capturelint import Case, GraphRunner
from tests.unit.measure.simulator import BACKEND

D = 4  # width
SIZES = (1, 3, 8)


def one(seed: int, batch_size: int = 1) -> tuple[Tensor]:
    return (torch.randn(batch_size, D, generator=torch.Generator().manual_seed(seed)),)


def runner(case: Case, sizes: tuple[int, ...] = SIZES, **choices: Any) -> GraphRunner:
    return GraphRunner(case, sizes, backend=BACKEND, **choices)
