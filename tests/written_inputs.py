"""What the written cases receive, and tensors of the same shape on the device."""

from __future__ import annotations

import torch
from torch import Tensor

WIDTH = 4
SHAPE = (2, WIDTH)


def x() -> tuple[Tensor]:
    return (torch.randn(SHAPE),)


def zeros() -> Tensor:
    return torch.zeros(SHAPE, device="cuda")


def ones() -> Tensor:
    return torch.ones(SHAPE, device="cuda")
