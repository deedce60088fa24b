"""Inputs of other sizes: what agrees at the sizes of a case need not agree at others.

Arms of a branch may have one shape as long as a sequence is longer than a window, and a mask may be for some of
the rows alone that are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from capturelint.debug.attempts.part import Call
from capturelint.rewrite.proof.fewer import tensors_of

Calls = tuple[Call, ...]

_EMPTY = "of size 0"
_MOST_SIZES = 5  # that are changed, the others stay
_MOST_ALONE = 4  # inputs


class Resized(NamedTuple):
    """How inputs are resized.

    `needs_others`: only where the code runs on those before; `is_alone`: one input alone. `may_fail`: new code
    may raise on them, where the old code does not.
    """

    name: str
    of: Callable[[Calls], Calls]
    needs_others: bool = False
    is_alone: bool = False

    @property
    def may_fail(self) -> bool:
        """Whether a failure is no difference: for inputs that are apart, and those without elements."""
        return self.is_alone or self.name.startswith(_EMPTY)


def ways_to_resize(calls: Calls) -> Iterator[Resized]:
    """Yield ways to resize the tensors of the calls of one step.

    Each size changes wherever it is the size of a dimension; 1 comes last, as it may stand for any other. Then
    each tensor alone gets another number of rows.
    """
    tensors = _tensors(calls)
    sizes = list(dict.fromkeys(size for one in tensors for size in one.shape if size))
    for number, size in enumerate(sizes[:_MOST_SIZES]):
        for other in dict.fromkeys((2 * size + 1, 3, 2, 1, *([] if number else [0]))):
            name = f"of size {other} in place of {size}"
            if other != size:
                yield Resized(name, partial(_with_size, size, other), needs_others=other < 2)
    for number, one in enumerate(tensors[:_MOST_ALONE]) if len(tensors) > 1 else ():
        for rows in (1, 2, 3):
            name = f"of which one alone has {rows} row{'s' if rows > 1 else ''}"
            if rows != one.shape[0]:
                yield Resized(name, partial(_with_rows, number, rows), is_alone=True)


def all_true(calls: Calls) -> Calls | None:
    """Return the calls with masks that select all; None if they have no masks."""
    if not any(one.dtype is torch.bool for one in _tensors(calls)):
        return None
    return _resized(calls, lambda _, one: torch.ones_like(one) if one.dtype is torch.bool else one)


def has_integers(calls: Calls) -> bool:
    """Return whether a tensor of the calls holds integers."""
    return any(
        not (one.is_floating_point() or one.is_complex() or one.dtype is torch.bool)
        for one in _tensors(calls)
    )


def _tensors(calls: Calls) -> list[Tensor]:
    return [one for call in calls for one in tensors_of(call)]


def _with_size(size: int, other: int, calls: Calls) -> Calls:
    def resized(_: int, one: Tensor) -> Tensor:
        for dim in (dim for dim, found in enumerate(one.shape) if found == size):
            one = one.index_select(dim, torch.arange(other, device=one.device) % size)
        return one

    return _resized(calls, resized)


def _with_rows(number: int, rows: int, calls: Calls) -> Calls:
    def resized(at: int, one: Tensor) -> Tensor:
        chosen = torch.arange(rows, device=one.device)
        return one.index_select(0, chosen % max(one.shape[0], 1)) if at == number else one

    return _resized(calls, resized)


def _resized(calls: Calls, of: Callable[[int, Tensor], Tensor]) -> Calls:
    """Return copies of the calls with other tensors. `of`: makes one of its number and the old one."""
    copies = tuple(call.copied() for call in calls)
    new = {
        id(one): of(number, one.detach()).clone().requires_grad_(one.requires_grad)
        for number, one in enumerate(_tensors(copies))
    }
    made = []
    for call in copies:
        args, kwargs = pytree.tree_map(
            lambda one: new.get(id(one), one), (call.args, dict(call.kwargs))
        )
        made.append(replace(call, args=args, kwargs=kwargs))
    return tuple(made)
