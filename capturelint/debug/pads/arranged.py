"""Rows in another order: which row of a batch each row of a result belongs to, in two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from capturelint.debug.pads.rows import Axis

_Owners: TypeAlias = tuple[int, ...]  # by place, the row of the batch that lies there


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The order of rows in a run on real rows alone, and in one with other pad rows."""

    base: _Owners
    filled: _Owners

    @property
    def is_plain(self) -> bool:
        """Return whether each row lies where it lies in the batch."""
        plain = tuple(range(len(self.base)))
        return self.base == plain and self.filled == plain

    def after(self, first: Arrangement) -> Arrangement:
        """Return the order that comes of this one, of rows that lie in the order `first`."""
        return Arrangement(
            tuple(first.base[place] for place in self.base),
            tuple(first.filled[place] for place in self.filled),
        )


def plain(total: int) -> Arrangement:
    """Return the order of a batch of `total` rows."""
    return Arrangement(tuple(range(total)), tuple(range(total)))


def in_order(tensor: Tensor, dim: int, owners: _Owners) -> Tensor:
    """Return the tensor with its rows where they lie in the batch. They lie as `owners` say."""
    places = torch.tensor(owners, device=tensor.device).argsort()
    return tensor.index_select(dim, places)


def order_in(base: Tensor, filled: Tensor, total: int) -> Arrangement | None:
    """Return the order that indices of rows give, as those of a sort; None if they give none."""
    owners = [_indices(one, total) for one in (base, filled)]
    first, other = owners
    return None if first is None or other is None else Arrangement(first, other)


def moved_rows(made: Tensor, given: Tensor, axis: Axis, real: int) -> tuple[_Owners | None, bool]:
    """Return where each row of `made` lay in `given`, and whether that is sure.

    None if they are not the same rows. Rows that are alike are told apart by nothing; it is unsure
    where one of the first `real` is among them.
    """
    if made.shape != given.shape:
        return None, True
    rows, sources = _contents(made, axis.dim), _contents(given, axis.dim)
    if sorted(rows) != sorted(sources):
        return None, True
    left: dict[bytes, list[int]] = {}
    for place, row in enumerate(sources):
        left.setdefault(row, []).append(place)
    is_sure = all(len(places) == 1 or places[0] >= real for places in left.values())
    return tuple(left[row].pop(0) for row in rows), is_sure


def has_same_bytes(made: Tensor, given: Tensor) -> bool:
    """Return whether elements of `given`, in another order, may be those of `made`."""
    if (made.shape, made.dtype) != (given.shape, given.dtype) or not made.numel():
        return False
    counts = [torch.bincount(_bytes(one).flatten().long(), minlength=256) for one in (made, given)]
    return torch.equal(*counts)


def _indices(tensor: Tensor, total: int) -> _Owners | None:
    if tensor.dim() != 1 or tensor.is_floating_point() or tensor.is_complex():
        return None
    found: list[int] = tensor.tolist()
    return tuple(found) if sorted(found) == list(range(total)) else None


def _contents(tensor: Tensor, dim: int) -> list[bytes]:
    rows = tensor.movedim(dim, 0).reshape(tensor.shape[dim], -1)
    return [bytes(row.tolist()) for row in _bytes(rows).cpu()]


def _bytes(tensor: Tensor) -> Tensor:
    # A copy of its own in order: conjugates and strides hide what is held.
    own = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return (own if own.dim() else own[None]).view(torch.uint8)
