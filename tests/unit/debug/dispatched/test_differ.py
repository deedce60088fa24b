"""What a graph would bake in, found by comparing two eager calls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from capturelint.verdict import Frozen
    from tests.unit.debug.conftest import InSession


def _frozen(backend: SimulatedBackend, module: nn.Module, *inputs: Any) -> tuple[Frozen, ...]:
    module(*inputs)
    with backend.recording() as first:
        module(*inputs)
    with backend.recording() as second:
        module(*inputs)
    return backend.frozen(first, second)


def _facts(frozen: tuple[Frozen, ...], module: nn.Module) -> list[tuple[int, str, str, str]]:
    """Return the line in `forward` (from 1), operation, and both values of each."""
    code = type(module).forward.__code__
    assert all(Path(one.place.path) == Path(__file__) for one in frozen)
    return [
        (one.place.line - code.co_firstlineno, one.operation, one.before, one.after)
        for one in frozen
    ]


class Counts(nn.Module):
    step = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.step += 1
        return x * self.step


class Rebinds(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.total = torch.zeros(3, device="cuda")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total = self.total + x
        return self.total * 2


class Alternates(nn.Module):
    step = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.step += 1
        if self.step % 2:
            return x.sin()
        return x.cos()


class Grows(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.append(x + 1)
        return torch.stack(self.seen).sum(0)


class Scales(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.tensor(1.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.scale.mul_(2)
        return x * self.scale


class Steady(nn.Module):
    """Near misses: state in place, random numbers, NaN, memory made anew in each call."""

    total: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3, device="cuda"))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        noise = torch.rand(3, device="cuda")
        return (self.total * noise).nan_to_num(float("nan")) + torch.empty(3, device="cuda").zero_()


def test_values_that_change_between_calls_are_found_where_they_are_used(
    in_session: InSession,
) -> None:
    def body(backend: SimulatedBackend) -> None:
        x = torch.ones(3, device="cuda")
        tensor = "tensor of shape (3,)"
        found = {
            type(module).__name__: _facts(_frozen(backend, module, x), module)
            for module in (Counts(), Rebinds(), Alternates(), Grows(), Scales(), Steady())
        }
        assert found == {
            "Counts": [(2, "aten.mul.Tensor", "2", "3")],
            "Rebinds": [(1, "aten.add.Tensor", tensor, f"another {tensor}")],
            "Alternates": [(3, "aten.sin.default", "aten.cos.default", "aten.sin.default")],
            "Grows": [(2, "aten.stack.default", "2 arguments", "3 arguments")],
            "Scales": [(2, "aten.mul.Tensor", "4.0", "8.0")],
            "Steady": [],
        }

    in_session(body)
