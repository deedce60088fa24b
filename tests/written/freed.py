"""Memory that a graph reads and that nobody owns when it is replayed: never written, or freed."""

from __future__ import annotations

import torch
from torch import Tensor, nn

import capturelint
from tests.written_inputs import SHAPE, WIDTH, x


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)


class Accumulates(Block):
    def forward(self, x: Tensor) -> Tensor:
        total = torch.empty_like(x)
        total += self.linear(x)  # blamed: a_sum_that_starts_from_nothing
        return total * 1


def a_sum_that_starts_from_nothing() -> object:
    """stale-on-replay."""
    return Accumulates(), x()


class Pads(Block):
    def forward(self, x: Tensor) -> Tensor:
        rows = torch.empty(4, WIDTH, device=x.device)  # blamed: rows_not_all_filled
        rows[:2] = self.linear(x)
        return rows.sum(0)


def rows_not_all_filled() -> object:
    """stale-on-replay."""
    return Pads(), x()


class Copies(Block):
    def forward(self, x: Tensor) -> Tensor:
        scale = torch.tensor([0.5, 1.0, 1.5, 2.0]).pin_memory()
        on_device = scale.to(x.device, non_blocking=True)  # blamed: a_pinned_temporary
        y: Tensor = self.linear(x) * on_device
        return y


def a_pinned_temporary() -> object:
    """stale-on-replay."""
    return Copies(), x()


class Masks(Block):
    def __init__(self) -> None:
        super().__init__()
        self.mask = torch.ones(SHAPE, device="cuda")

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x) * self.mask
        return y


def _rows(seed: int) -> tuple[Tensor]:
    return (torch.randn(SHAPE, generator=torch.Generator().manual_seed(seed)),)


def a_mask_made_anew() -> object:
    """stale-on-replay."""
    model = Masks()

    def prepare(_: int) -> None:
        model.mask = torch.ones(SHAPE, device="cuda")  # blamed: a_mask_made_anew

    return capturelint.Case(model, _rows, prepare=prepare)


def a_mask_filled_anew() -> object:
    """replays-equal."""
    model = Masks()

    def prepare(_: int) -> None:
        model.mask.fill_(1)

    return capturelint.Case(model, _rows, prepare=prepare)


class Fills(Block):
    def forward(self, x: Tensor) -> Tensor:
        total = torch.empty_like(x)
        total.copy_(self.linear(x))
        rows = torch.empty(4, WIDTH, device=x.device)
        rows[:2] = total
        rows[2:] = x
        return rows.sum(0)


def rooms_that_are_filled_first() -> object:
    """replays-equal."""
    return Fills(), x()


class Writes(Block):
    def forward(self, x: Tensor) -> Tensor:
        out = torch.empty_like(x)
        torch.mul(self.linear(x), 2, out=out)
        return out + 1


def a_room_for_a_result() -> object:
    """replays-equal."""
    return Writes(), x()


class Returns(Block):
    def forward(self, x: Tensor) -> Tensor:
        rows = torch.empty(4, WIDTH, device=x.device)
        rows[:2] = self.linear(x)
        return rows[:2]


def a_room_of_which_only_the_filled_part_is_used() -> object:
    """replays-equal."""
    return Returns(), x()


class Keeps(Block):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.tensor([0.5, 1.0, 1.5, 2.0]).pin_memory()

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x) * self.scale.to(x.device, non_blocking=True)
        return y


def pinned_memory_that_is_kept() -> object:
    """replays-equal."""
    return Keeps(), x()


class Remembers(Block):
    def __init__(self) -> None:
        super().__init__()
        self.bias: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.bias is None:
            self.bias = torch.ones(WIDTH, device=x.device)
        y: Tensor = self.linear(x) + self.bias
        return y


def a_constant_that_is_kept() -> object:
    """replays-equal."""
    return Remembers(), x()
