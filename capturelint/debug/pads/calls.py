"""Calls of a batch: their inputs with rows, and calls with other rows: changed, cut off, put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from capturelint.debug.attempts.part import Call, named
from capturelint.debug.pads.rows import Axis, Layout, Rows, differing, pad_mask
from capturelint.debug.trees.copies import with_others
from capturelint.debug.trees.memory import is_overlapping
from capturelint.debug.trees.trees import leaves, nodes

Axes: TypeAlias = Mapping[str, tuple[Axis, ...] | None]  # by path in the arguments of a call
Run: TypeAlias = Callable[..., object]


def tensors_of(call: Call, run: Run) -> dict[str, Tensor]:
    """Return the tensors among the arguments of a call, by path; not those that steps share."""
    shared = {id(one) for value in call.shared for one in nodes(value)}
    return {
        leaf.path: leaf.value
        for leaf in leaves(named(run, call))
        if isinstance(leaf.value, Tensor)
        and id(leaf.value) not in shared
        and not isinstance(leaf.value, nn.Parameter)
    }


def with_real_rows(call: Call, run: Run, axes: Axes, count: int, stale: Call) -> Call:
    """Return the call with the first `count` rows of another step in the place of its own."""
    own = writable(call, run, axes)
    others = tensors_of(stale, run)
    with torch.inference_mode():
        for path, dim, tensor in batched(own, run, axes):
            if path in others:
                tensor.movedim(dim, 0)[:count].copy_(others[path].movedim(dim, 0)[:count])
    return own


def changed(call: Call, run: Run, axes: Axes, change: Callable[[str, Tensor], object]) -> Call:
    """Return the call after `change` of each input with rows: its path, and a view by rows."""
    own = writable(call, run, axes)
    with torch.inference_mode():
        for path, dim, tensor in batched(own, run, axes):
            change(path, tensor.movedim(dim, 0))
    return own


def cut(call: Call, run: Run, axes: Axes, count: int) -> Call:
    """Return the call with its first `count` rows alone."""
    made = {
        id(tensor): tensor.detach().narrow(dim, 0, count).clone()
        for _, dim, tensor in batched(call, run, axes)
    }
    return _with(call, made).copied()


def spliced(call: Call, run: Run, axes: Axes, rows: Rows, other: Call) -> Call | None:
    """Return the call with the pad rows of `other`, which differs in more; None if it cannot be told.

    What has no rows stays as it is in `call`.
    """
    own = writable(call, run, axes)
    mine, theirs = tensors_of(own, run), tensors_of(other, run)
    if mine.keys() != theirs.keys():
        return None
    with torch.inference_mode():
        for path, tensor in mine.items():
            if not splice(tensor, theirs[path], axes.get(path, ()), rows):
                return None
    return own


def splice(tensor: Tensor, other: Tensor, axes: tuple[Axis, ...] | None, rows: Rows) -> bool:
    """Write the pad rows of `other` into `tensor`. Return whether it could be told which they are."""
    if tensor.shape != other.shape:
        return False
    if axes == ():
        return True
    if axes is None or len(axes) > 1 or axes[0].layout is Layout.UNKNOWN:
        # What is the same in both needs no telling.
        return not bool(differing(tensor, other).any())
    tensor.copy_(torch.where(pad_mask(tensor, axes[0], rows), other, tensor))
    return True


def batched(call: Call, run: Run, axes: Axes) -> Iterator[tuple[str, int, Tensor]]:
    """Yield the inputs of a case that have a batch dimension: path, dimension, tensor."""
    for path, tensor in tensors_of(call, run).items():
        found = axes.get(path)
        if found:
            yield path, found[0].dim, tensor


def writable(call: Call, run: Run, axes: Axes) -> Call:
    """Return a copy of the call whose rows can be written one by one: expanded ones are made so."""
    own = call.copied()
    made: dict[int, Any] = {
        id(tensor): tensor.detach().clone(memory_format=torch.contiguous_format)
        for path, tensor in tensors_of(own, run).items()
        if axes.get(path) and is_overlapping(tensor)
    }
    return _with(own, made) if made else own


def _with(call: Call, made: Mapping[int, object]) -> Call:
    shared = {id(one): one for one in call.shared}
    args, kwargs = with_others((call.args, dict(call.kwargs)), {**made, **shared})
    return replace(call, args=args, kwargs=kwargs)
