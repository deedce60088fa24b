"""Which elements of a tensor belong to real rows: the dimensions that follow the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Rows:
    """A batch of `total` rows: the first `real` ones are somebody's, the others are pad rows."""

    total: int
    real: int

    @property
    def pads(self) -> int:
        """Return how many pad rows there are."""
        return self.total - self.real

    def __str__(self) -> str:
        """Return which rows are pad rows, in words."""
        if self.pads == 1:
            return f"the last of {self.total} rows is a pad row"
        return f"the last {self.pads} of {self.total} rows are pad rows"


class Layout(Enum):
    """How the rows lie in a dimension that holds several elements of each."""

    MAJOR = "row by row"
    MINOR = "element by element"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Axis:
    """A dimension that follows the batch, with `block` elements of each row."""

    dim: int
    block: int = 1
    layout: Layout = Layout.MAJOR


def axes_between(
    shape: Sequence[int], other: Sequence[int], rows: Rows, others: int
) -> tuple[Axis, ...] | None:
    """Return what follows the batch, of `shape` at `rows.total` rows and of `other` at `others`.

    None if the shapes differ in another way.
    """
    if len(shape) != len(other):
        return None
    axes: list[Axis] = []
    for dim, (size, now) in enumerate(zip(shape, other, strict=True)):
        if size == now:
            continue
        block, rest = divmod(size, rows.total)
        if rest or now != block * others:
            return None
        axes.append(Axis(dim, block, Layout.MAJOR if block == 1 else Layout.UNKNOWN))
    return tuple(axes)


def only_axis(shape: Sequence[int], rows: Rows) -> tuple[Axis, ...] | None:
    """Return the one dimension that is as long as the batch, where no other batch can be run.

    () if none could hold rows; None if that cannot be told.
    """
    fitting = [dim for dim, size in enumerate(shape) if size == rows.total]
    if len(fitting) == 1:
        return (Axis(fitting[0]),)
    may_hold = any(size and size % rows.total == 0 for size in shape)
    return None if fitting or may_hold else ()


def settled(
    axes: tuple[Axis, ...] | None, base: Tensor, probe: Tensor, rows: Rows
) -> tuple[Axis, ...] | None:
    """Return `axes` with the layout that shows in `probe`, of a run with another first row."""
    if not axes or len(axes) > 1 or axes[0].layout is not Layout.UNKNOWN:
        return axes
    axis = axes[0]
    if base.shape != probe.shape:
        return axes
    moved = differing(base, probe).movedim(axis.dim, 0).reshape(base.shape[axis.dim], -1).any(1)
    places: list[int] = moved.nonzero().flatten().tolist()
    is_major = all(place < axis.block for place in places)
    is_minor = all(place % rows.total == 0 for place in places)
    if not places or is_major == is_minor:
        return axes
    return (replace(axis, layout=Layout.MAJOR if is_major else Layout.MINOR),)


def real_part(tensor: Tensor, axes: Sequence[Axis], rows: Rows) -> Tensor:
    """Return the elements that belong to real rows alone, however the rows lie."""
    for axis in axes:
        places = torch.tensor(_places(axis, rows), dtype=torch.long, device=tensor.device)
        tensor = tensor.index_select(axis.dim, places)
    return tensor


def doubtful_part(tensor: Tensor, axes: Sequence[Axis], rows: Rows) -> Tensor | None:
    """Return the elements that may belong to real rows, flat; None where `real_part` has all."""
    if len(axes) == 1 and axes[0].layout is not Layout.UNKNOWN:
        return None
    chosen = torch.zeros(tensor.shape, dtype=torch.bool, device=tensor.device)
    for axis in axes:
        places = torch.tensor(_places(axis, rows, may_be=True), device=tensor.device)
        chosen.index_fill_(axis.dim, places, value=True)
    return tensor.masked_select(chosen)


def pad_mask(tensor: Tensor, axis: Axis, rows: Rows) -> Tensor:
    """Return a mask over one dimension: which places belong to pad rows. The layout is known."""
    mask = torch.ones(tensor.shape[axis.dim], dtype=torch.bool, device=tensor.device)
    mask[torch.tensor(_places(axis, rows), dtype=torch.long, device=tensor.device)] = False
    shape = [1] * tensor.dim()
    shape[axis.dim] = -1
    return mask.view(shape)


def differing(first: Tensor, other: Tensor) -> Tensor:
    """Return where two tensors of one shape differ; NaN equals NaN."""
    return (first != other) & ~((first != first) & (other != other))


def _places(axis: Axis, rows: Rows, *, may_be: bool = False) -> list[int]:
    """Return the places of real rows in a dimension; `may_be`: in any layout that it may have."""
    major = range(rows.real * axis.block)
    minor = [place for place in range(rows.total * axis.block) if place % rows.total < rows.real]
    if axis.layout is Layout.MAJOR:
        return list(major)
    if axis.layout is Layout.MINOR:
        return minor
    both = set(major) | set(minor) if may_be else set(major) & set(minor)
    return sorted(both)
