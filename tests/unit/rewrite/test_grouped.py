"""Grouped products of float64 come to what those of float32 come to."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402 - needs torch
from torch.nn import functional  # noqa: E402 - needs torch

from capturelint.rewrite.proof.grouped import GroupedInFloat64  # noqa: E402

pytestmark = pytest.mark.skipif(
    not hasattr(functional, "grouped_mm"), reason="this torch has no grouped product"
)


def _product(*, is_wide: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Return the product of six rows in groups of 2, 0 and 3, and the gradients of both factors."""
    dtype = torch.float64 if is_wide else torch.float32
    source = torch.Generator().manual_seed(0)
    rows = torch.randn(6, 16, generator=source).to(dtype).requires_grad_()
    groups = torch.randn(3, 16, 8, generator=source).to(dtype).requires_grad_()
    offs = torch.tensor([2, 2, 5], dtype=torch.int32)
    found = functional.grouped_mm(rows, groups, offs=offs)[:5]
    slopes = torch.autograd.grad(found.square().sum(), (rows, groups))
    return found, slopes[0][:5], slopes[1]


def test_products_and_gradients_are_those_of_float32() -> None:
    with GroupedInFloat64():
        found = _product(is_wide=True)
        narrow = _product(is_wide=False)

    assert [one.dtype for one in found] == [torch.float64] * 3
    for one, other in zip(found, narrow, strict=True):
        assert torch.allclose(one.float(), other, rtol=1e-4, atol=1e-4)


def test_rows_behind_the_last_offset_are_zeros() -> None:
    rows, groups = torch.ones(4, 16).double(), torch.ones(1, 16, 8).double()
    with GroupedInFloat64():
        found = functional.grouped_mm(rows, groups, offs=torch.tensor([3], dtype=torch.int32))

    assert found.sum(1).tolist() == [128.0, 128.0, 128.0, 0.0]


def test_what_it_does_not_know_is_left_to_torch() -> None:
    rows, groups = torch.ones(2, 4, 16).double(), torch.ones(2, 16, 8).double()
    with GroupedInFloat64(), pytest.raises((RuntimeError, ValueError)):
        functional.grouped_mm(rows, groups)
