"""Small cases that are judged on a device: what passes, what is refused, what takes the device down."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

import capturelint

B, D = 8, 16  # batch, width
Inputs = Callable[[int], tuple[Tensor, ...]]


def inputs(seed: int) -> tuple[Tensor, ...]:
    """Return x: (B, D) float32."""
    return (torch.randn(B, D, generator=torch.Generator().manual_seed(seed)),)


def with_target(seed: int) -> tuple[Tensor, ...]:
    """Return x: (B, D) and a target: (B, 2), float32."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(B, D, generator=generator), torch.randn(B, 2, generator=generator)


class Reads(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * x.sum().item()  # read


class Pair(nn.Module):
    """Something, and a module that is refused, which is to be found whatever the first does."""

    def __init__(self, first: nn.Module) -> None:
        super().__init__()
        self.first = first
        self.second = Reads()

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.second(self.first(x))
        return y


def passing() -> tuple[nn.Module, Inputs]:
    layers = nn.Sequential(nn.Linear(D, D), nn.ReLU(), nn.BatchNorm1d(D), nn.Dropout(0.5))
    return layers.train(), inputs


def reading() -> tuple[nn.Module, Inputs]:
    return Pair(nn.Linear(D, D)).eval(), inputs


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step = 0

    def forward(self, x: Tensor) -> Tensor:
        self.step += 1  # counted
        return x * self.step


def counting() -> tuple[nn.Module, Inputs]:
    return nn.Sequential(nn.Linear(D, D), Counts()).eval(), inputs


class Swallows(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        try:
            scale = x.sum().item()  # swallowed
        except RuntimeError:
            scale = 1.0
        return x * scale


def swallowing() -> tuple[nn.Module, Inputs]:
    return Swallows().eval(), inputs


class Asserts(nn.Module):
    """Asserts on the device, but only while a stream is captured."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(4, D))

    def forward(self, x: Tensor) -> Tensor:
        row = torch.zeros(B, dtype=torch.int64, device=x.device)
        return x + self.table[row + 1000 * torch.cuda.is_current_stream_capturing()]  # asserted


def asserting() -> tuple[nn.Module, Inputs]:
    return Pair(Asserts()).eval(), inputs


class Dies(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if torch.cuda.is_current_stream_capturing():
            os.kill(os.getpid(), signal.SIGKILL)
        return x + 1


def dying() -> tuple[nn.Module, Inputs]:
    return Pair(Dies()).eval(), inputs


class Hangs(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if torch.cuda.is_current_stream_capturing():
            time.sleep(1000)
        return x + 1


def hanging() -> tuple[nn.Module, Inputs]:
    return Pair(Hangs()).eval(), inputs


class Fills(nn.Module):
    """Takes more memory than any device has, but only while a stream is captured."""

    def forward(self, x: Tensor) -> Tensor:
        if torch.cuda.is_current_stream_capturing():
            torch.empty(1 << 45, dtype=torch.uint8, device=x.device)
        return x + 1


def filling() -> tuple[nn.Module, Inputs]:
    return Pair(Fills()).eval(), inputs


class Decomposes(nn.Module):
    """Leaves the library's handle broken when its capture fails."""

    def forward(self, x: Tensor) -> Tensor:
        values: Tensor = torch.linalg.eigh(x @ x.T)[0]  # decomposed
        return x + values[:, None]


def decomposing() -> tuple[nn.Module, Inputs]:
    layers = nn.Sequential(Decomposes(), Decomposes(), Reads(), nn.Linear(D, D))
    return layers.eval(), inputs


class Compiled(nn.Module):
    def __init__(self, **options: str) -> None:
        super().__init__()
        self.linear = nn.Linear(D, D)
        self.fused = torch.compile(self._fused, **options)  # type: ignore[call-overload]  # any of its options

    def _fused(self, x: Tensor) -> Tensor:
        return torch.relu(x) * 2 + 1

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.fused(self.linear(x))
        return y


def compiled() -> tuple[nn.Module, Inputs]:
    return Compiled().eval(), inputs


def compiled_to_graphs() -> tuple[nn.Module, Inputs]:
    return Compiled(mode="reduce-overhead").eval(), inputs


def training() -> capturelint.Case:
    return _training(capturable=True)


def training_on_the_host() -> capturelint.Case:
    return _training(capturable=False)


def _training(*, capturable: bool) -> capturelint.Case:
    model = nn.Linear(D, 2)
    optimizer = torch.optim.Adam(model.parameters(), capturable=capturable)

    def step(x: Tensor, target: Tensor) -> Tensor:
        optimizer.zero_grad(set_to_none=False)
        loss = nn.functional.mse_loss(model(x), target)
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it so
        optimizer.step()  # stepped
        return loss.detach()

    return capturelint.Case(step, with_target, mode="train")
