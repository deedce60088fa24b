"""Choices of new code while it is tried: `torch.where` between tensors that are alike, or an error."""

from __future__ import annotations

import torch
from torch import Tensor


def checked_where(condition: Tensor, first: object, second: object) -> Tensor:
    """Choose as `torch.where` does, between tensors that are alike in all but their contents."""
    if not isinstance(first, Tensor) or not isinstance(second, Tensor):
        raise UnlikeError(f"chooses between a {type(first).__name__} and a {type(second).__name__}")
    one, other = ((t.shape, t.dtype, t.device) for t in (first, second))
    if one != other:
        names = ("shapes", "types", "devices")
        what = next(n for n, a, b in zip(names, one, other, strict=True) if a != b)
        raise UnlikeError(f"chooses between tensors of other {what}")
    if condition.dim():
        raise UnlikeError("chooses by more than one truth value")
    return torch.where(condition, first, second)


def checked_rows(mask: Tensor, first: object, second: object) -> Tensor:
    """Choose element by element as `torch.where` does, without making anything larger or other."""
    if not isinstance(first, Tensor) or not isinstance(second, Tensor):
        raise UnlikeError(f"chooses between a {type(first).__name__} and a {type(second).__name__}")
    if first.dtype != second.dtype:
        raise UnlikeError("chooses between tensors of other types")
    if first.device != second.device:
        raise UnlikeError("chooses between tensors of other devices")
    if first.shape not in (second.shape, torch.Size()):
        raise UnlikeError("chooses between tensors of other shapes")
    if torch.where(mask, second, second).shape != second.shape:
        raise UnlikeError("chooses by a mask of another shape")
    return torch.where(mask, first, second)


class UnlikeError(Exception):
    """A choice would be between tensors that are not alike. The text says what the code does."""
