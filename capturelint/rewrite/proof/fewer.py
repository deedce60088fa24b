"""Inputs of one row: what has as many rows as the case gives it, such as a buffer, may have more then.

The shapes of a case hide that: `y.copy_(torch.where(m[..., None], f(x), y))` is for the rows of `m` as long as `y`
has no others, and one row of `m` would stand for all of `y`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torch import Tensor
from torch.utils import _pytree as pytree

from capturelint.debug.attempts.part import Call

_MOST_ROWS = 4
_OF_ROW = "of row "


def one_row_each(calls: tuple[Call, ...]) -> Iterator[tuple[str, tuple[Call, ...]]]:
    """Yield the calls of one step with one row of their inputs, for some rows, each with a name.

    Rows are the first dimension of the first tensor, and of all others that have as many.
    """
    rows = [_rows(call) for call in calls]
    for row in range(min([_MOST_ROWS, *rows])):
        yield (
            f"{_OF_ROW}{row} alone",
            tuple(_cut(call.copied(), count, row) for call, count in zip(calls, rows, strict=True)),
        )


def is_of_one_row(name: str) -> bool:
    """Return whether inputs by that name have one row."""
    return name.startswith(_OF_ROW)


def laid_otherwise(calls: tuple[Call, ...]) -> tuple[Call, ...]:
    """Return the calls of one step on tensors whose last two dimensions lie in memory the other way round."""

    def laid(value: object) -> object:
        if not isinstance(value, Tensor) or value.dim() < 2:
            return value
        other = value.detach().transpose(-1, -2).contiguous().transpose(-1, -2)
        return other.requires_grad_(value.requires_grad)

    found = []
    for call in (one.copied() for one in calls):
        args, kwargs = pytree.tree_map(laid, (call.args, dict(call.kwargs)))
        found.append(replace(call, args=args, kwargs=kwargs))
    return tuple(found)


def tensors_of(call: Call) -> list[Tensor]:
    """Return the tensors that a call receives and that have a dimension."""
    held = pytree.tree_leaves((call.args, dict(call.kwargs)))
    return [one for one in held if isinstance(one, Tensor) and one.dim()]


def _rows(call: Call) -> int:
    """Return how many rows the inputs of a call have, 0 if there is no more than one."""
    found = next((one.shape[0] for one in tensors_of(call)), 0)
    return found if found > 1 else 0


def _cut(call: Call, rows: int, row: int) -> Call:
    cut = {
        id(one): one.detach()[row : row + 1].clone().requires_grad_(one.requires_grad)
        for one in tensors_of(call)
        if one.shape[0] == rows
    }
    args, kwargs = pytree.tree_map(
        lambda one: cut.get(id(one), one), (call.args, dict(call.kwargs))
    )
    return replace(call, args=args, kwargs=kwargs)
