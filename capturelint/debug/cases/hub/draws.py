"""How one input of a model is drawn: token ids, noise, a padding mask, or one fixed value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from capturelint.debug.cases.generators import generator_of

_MOST_PADDING = 3  # tokens


class Draw(Protocol):
    """Makes one input. `shape`: of the tensor that it makes."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def drawn(self, generator: torch.Generator) -> Tensor:
        """Return a tensor on the CPU, drawn by `generator`."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Ids out of `pool`."""

    shape: tuple[int, ...]
    pool: tuple[int, ...]

    def drawn(self, generator: torch.Generator) -> Tensor:
        chosen = torch.randint(len(self.pool), self.shape, generator=generator)
        return torch.tensor(self.pool)[chosen]


@dataclass(frozen=True, slots=True)
class Noise:
    """Floating values around 0."""

    shape: tuple[int, ...]

    def drawn(self, generator: torch.Generator) -> Tensor:
        return torch.randn(self.shape, generator=generator)


@dataclass(frozen=True, slots=True)
class Padding:
    """Ones, and zeros for some padding of the first row. `left`: at its start."""

    shape: tuple[int, ...]
    left: bool

    def drawn(self, generator: torch.Generator) -> Tensor:
        mask = torch.ones(self.shape, dtype=torch.long)
        padding = int(torch.randint(1, _MOST_PADDING + 1, (), generator=generator))
        row = mask[0]
        (row[:padding] if self.left else row[-padding:]).zero_()
        return mask


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same numbers each time, as nested tuples. `whole`: as integers."""

    shape: tuple[int, ...]
    values: tuple[float, ...]
    whole: bool = True

    def drawn(self, _generator: torch.Generator) -> Tensor:
        dtype = torch.long if self.whole else torch.float32
        return torch.tensor(self.values, dtype=dtype).expand(self.shape).clone()


def drawn(draws: Mapping[str, Draw], seed: int) -> dict[str, Tensor]:
    """Return the inputs of one step by name."""
    return {name: draw.drawn(generator_of(seed, name)) for name, draw in draws.items()}
