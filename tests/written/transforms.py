"""Transforms of functions, and modules whose children receive odd tensors."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.written_inputs import WIDTH, x


class Transformed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)


class Backward(Transformed):
    def forward(self, x: Tensor) -> object:
        return torch.func.jacrev(self.linear)(x[0])


def a_jacobian_backward() -> object:
    """replays-equal."""
    return Backward(), x()


class Forward(Transformed):
    def forward(self, x: Tensor) -> object:
        return torch.func.jacfwd(self.linear)(x[0])


def a_jacobian_forward() -> object:
    """replays-equal."""
    return Forward(), x()


class Both(Transformed):
    def forward(self, x: Tensor) -> object:
        return torch.func.hessian(lambda row: self.linear(row).tanh().sum())(x[0])


def a_hessian() -> object:
    """replays-equal."""
    return Both(), x()


class Mapped(Transformed):
    def forward(self, x: Tensor) -> object:
        return torch.func.vmap(self.linear)(x) * x.sum().item()  # blamed: a_map_beside_a_read


def a_map_beside_a_read() -> object:
    """refuses-capture."""
    return Mapped(), x()


def an_encoder_that_nests_its_padded_input() -> object:
    """refuses-capture."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    padding = torch.arange(5).expand(2, 5) > 3
    given = {"src": torch.randn(2, 5, 8), "src_key_padding_mask": padding}
    return nn.TransformerEncoder(layer, 2).eval(), given
