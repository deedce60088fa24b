"""Tensors that calls write and keep outside of modules' registers; no result shows them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from capturelint import Case
from tests.written_inputs import SHAPE, WIDTH, ones, x, zeros


class Counts(nn.Module):
    """Writes one row more in each call. `rows`: an attribute that nobody registered."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = torch.zeros(32, *SHAPE, device="cuda")
        self.next = 0

    def forward(self, x: Tensor) -> Tensor:
        self.rows[self.next] = x
        self.next += 1  # blamed: an_attribute_written_at_a_number, a_tensor_declared
        return x * 2


def an_attribute_written_at_a_number() -> object:
    """stale-on-replay."""
    return Counts(), x()


def a_tensor_declared() -> Case:
    """stale-on-replay."""
    model = Counts()
    return Case(model, x(), state=[model.rows])


def a_rate_of_a_function() -> Case:
    """stale-on-replay."""
    mean, calls = zeros(), [0]

    def step(x: Tensor) -> None:
        calls[0] += 1  # blamed: a_rate_of_a_function
        mean.lerp_(x, 1 / calls[0])

    return Case(step, x())


class Writes(nn.Module):
    def __init__(self, cache: dict[str, Tensor]) -> None:
        super().__init__()
        self.cache = cache
        self.next = 0

    def forward(self, x: Tensor) -> Tensor:
        self.cache["rows"][self.next] = x
        self.next += 1  # blamed: a_cache_of_two
        return x * 2


class Reads(nn.Module):
    def __init__(self, cache: dict[str, Tensor]) -> None:
        super().__init__()
        self.cache = cache

    def forward(self, x: Tensor) -> Tensor:
        return x + self.cache["rows"].sum(0)


def a_cache_of_two() -> Case:
    """stale-on-replay."""
    cache = {"rows": torch.zeros(32, *SHAPE, device="cuda")}
    return Case(
        {"writes": Writes(cache), "reads": Reads(cache)},
        lambda seed: {"writes": _drawn(seed), "reads": _drawn(seed + 100)},
    )


class Turns(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cache = {"last": torch.zeros(3, *SHAPE, device="cuda")}

    def forward(self, x: Tensor) -> Tensor:
        last = self.cache["last"]
        self.cache["last"] = torch.cat([last[1:], x[None]])  # blamed: what_is_exchanged
        return x * 2


def what_is_exchanged() -> object:
    """stale-on-replay."""
    return Turns(), x()


class Keeps(nn.Module):
    """Keeps tensors as a graph does: by a position on the device, or written anew by each call."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.rows = torch.empty(32, *SHAPE, device="cuda")  # of which most stay unwritten
        self.position = torch.zeros(1, dtype=torch.long, device="cuda")
        self.scratch = torch.empty(SHAPE, device="cuda")
        self.made: Tensor | None = None
        self.latest: Tensor | None = None
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        if self.made is None:
            self.made = torch.ones_like(x)
        self.rows.index_copy_(0, self.position, x[None])
        self.position.add_(1)
        torch.mul(x, 2, out=self.scratch)
        self.latest = x + self.made
        out: Tensor = self.linear(self.scratch)
        return out


def what_a_graph_keeps_as_well() -> object:
    """replays-equal."""
    return Keeps().eval(), x()


class Told(nn.Module):
    """`told`: what is prepared for each call, for others to read."""

    def __init__(self) -> None:
        super().__init__()
        self.told = ones()
        self.total = zeros()

    def forward(self, x: Tensor) -> Tensor:
        self.total.add_(x)
        return x * 2


def what_only_the_preparation_exchanges() -> Case:
    """replays-equal."""
    model = Told()

    def prepare(step: int) -> None:
        model.told = torch.full(SHAPE, float(step), device="cuda")

    return Case(model, x(), prepare=prepare)


def noise_that_is_kept() -> Case:
    """replays-equal."""
    kept = zeros()

    def step(x: Tensor) -> Tensor:
        kept.copy_(torch.rand_like(x))
        return x * 2

    return Case(step, x())


def _drawn(seed: int) -> Tensor:
    return torch.randn(SHAPE, generator=torch.Generator().manual_seed(seed))
