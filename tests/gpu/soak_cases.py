"""Small cases that are replayed many times: steady, different after a while, hoarding memory."""

from __future__ import annotations

import torch
from torch import Tensor, nn

import capturelint

B, D = 8, 16  # batch, width


def inputs(seed: int) -> tuple[Tensor]:
    """Return x: (B, D) float32."""
    return (torch.randn(B, D, generator=torch.Generator().manual_seed(seed)),)


class Sums(nn.Module):
    """Keeps a running mean on the device."""

    mean: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(D, D)
        self.register_buffer("mean", torch.zeros(D))

    def forward(self, x: Tensor) -> Tensor:
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        y: Tensor = self.layer(x + self.mean)
        return y


class Switches(nn.Module):
    """Computes something else from its 26th call on."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return x * (2.0 if self.calls > 25 else 1.0)


def steady() -> capturelint.Case:
    """Return a case whose replays equal eager however often it runs."""
    return capturelint.Case(Sums(), inputs)


def switching() -> capturelint.Case:
    """Return a case that counts in Python, which shows after a while."""
    return capturelint.Case(Switches(), inputs)


def hoarding() -> capturelint.Case:
    """Return a case that keeps another MiB of the device in each step."""
    kept: list[Tensor] = []

    def prepare(_step: int) -> None:
        kept.append(torch.zeros(1 << 18, device="cuda"))

    return capturelint.Case(Sums(), inputs, prepare=prepare)
