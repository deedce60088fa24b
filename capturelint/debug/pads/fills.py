"""What pad rows are made to hold, and calls with such rows: filled, cut off, put together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
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

_LARGE = 1e4  # float16 holds it; squared it does not
_FEWEST_BYTES = 2  # of the floating dtypes that hold infinity


@dataclass(frozen=True, slots=True)
class Fill:
    """Contents of pad rows. `name`: as printed. `is_finite`: whether real rows may hold such too.

    `fits`: whether a tensor can hold it. `write`: puts it into the pad rows of a tensor, given
    them, the tensor's real rows and the pad rows of another step. `only`: the input that gets it;
    "" for all. `is_whole`: whether a row of it is one that a case makes: where columns or inputs
    come from several rows, code may raise rightly.
    """

    name: str
    fits: Callable[[Tensor], bool]
    write: Callable[[Tensor, Tensor, Tensor], object]
    is_finite: bool = True
    only: str = ""
    is_whole: bool = True


def _is_floating(tensor: Tensor) -> bool:
    is_number = tensor.is_floating_point() or tensor.is_complex()
    return is_number and tensor.itemsize >= _FEWEST_BYTES


def _is_integer(tensor: Tensor) -> bool:
    return not (tensor.is_floating_point() or tensor.is_complex() or _is_truth(tensor))


def _is_float8(tensor: Tensor) -> bool:
    return tensor.dtype in (torch.float8_e4m3fn, torch.float8_e5m2)


def _is_truth(tensor: Tensor) -> bool:
    return tensor.dtype == torch.bool


def _is_drawable(tensor: Tensor) -> bool:
    return _is_floating(tensor) or _is_integer(tensor) or _is_truth(tensor)


def _number(value: float) -> Callable[[Tensor, Tensor, Tensor], object]:
    return lambda pads, _real, _stale: pads.fill_(value)


def _largest(pads: Tensor, _real: Tensor, _stale: Tensor) -> object:
    return pads.copy_(torch.full(pads.shape, torch.finfo(pads.dtype).max, device=pads.device))


def _nan(pads: Tensor, _real: Tensor, _stale: Tensor) -> object:
    return pads.copy_(torch.full(pads.shape, math.nan, device=pads.device))


def _other_rows(pads: Tensor, real: Tensor, _stale: Tensor) -> object:
    places = torch.arange(pads.shape[0], device=pads.device) % real.shape[0]
    return pads.copy_(real.index_select(0, places))


def _lowest(pads: Tensor, real: Tensor, _stale: Tensor) -> object:
    return pads.copy_(real.amin(0))


def _highest(pads: Tensor, real: Tensor, _stale: Tensor) -> object:
    return pads.copy_(real.amax(0))


def _drawn(seed: int) -> Callable[[Tensor, Tensor, Tensor], object]:
    """Return what draws each element from its column in the real rows and in those of another step."""

    def write(pads: Tensor, real: Tensor, stale: Tensor) -> object:
        known = torch.cat([real, stale])
        source = torch.Generator().manual_seed(seed)
        places = torch.randint(known.shape[0], pads.shape, generator=source)
        return pads.copy_(known.gather(0, places.to(pads.device)))

    return write


def _draws(seed: int) -> Fill:
    return Fill(f"values of other rows, draw {seed}", _is_drawable, _drawn(seed), is_whole=False)


NUMBERS = (
    Fill("zero", _is_floating, _number(0.0)),
    Fill("1e4", _is_floating, _number(_LARGE)),
    Fill("-1e4", _is_floating, _number(-_LARGE)),
)
# Those that tell most of what to mend first: NaN and infinity move what finite values do not.
FILLS = (
    Fill("rows of another step", lambda _: True, lambda pads, _, stale: pads.copy_(stale)),
    *NUMBERS,
    Fill("other rows' integers", _is_integer, _other_rows),
    Fill("other rows", _is_drawable, _other_rows),
    Fill("the largest float8", _is_float8, _largest),
    # Engines pad ids with it; of a slot or a position it may be what no real row has.
    Fill("the integer 0", _is_integer, _number(0), is_whole=False),
    Fill("the lowest integers", _is_integer, _lowest, is_whole=False),
    Fill("the highest integers", _is_integer, _highest, is_whole=False),
    *(_draws(seed) for seed in range(1, 4)),
    Fill("True", _is_truth, _number(1)),
    Fill("False", _is_truth, _number(0)),
    Fill("Inf", _is_floating, _number(math.inf), is_finite=False),
    Fill("NaN", _is_floating, _number(math.nan), is_finite=False),
    Fill("NaN in float8", _is_float8, _nan, is_finite=False),
)


def fills_of(call: Call, run: Run, axes: Axes) -> tuple[Fill, ...]:
    """Return the fills for the inputs of a call.

    Where several of these are integers, each is also the only one that other rows give: a slot of
    a real row then gets a token of another.
    """
    integers = [path for path, _, tensor in _batched(call, run, axes) if _is_integer(tensor)]
    if len(integers) == 1:
        return FILLS
    alone = (
        Fill(f"other rows' `{path}`", _is_integer, _other_rows, only=path, is_whole=False)
        for path in integers
    )
    place = FILLS.index(next(fill for fill in FILLS if not fill.is_whole))
    return (*FILLS[:place], *alone, *FILLS[place:])


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


def filled(call: Call, run: Run, axes: Axes, rows: Rows, fill: Fill, stale: Call) -> Call | None:
    """Return the call with `fill` in its pad rows; None if none of its inputs can hold that."""
    own = _writable(call, run, axes)
    others = tensors_of(stale, run)
    is_filled = False
    with torch.inference_mode():  # tensors made in it can only be written in it
        for path, dim, tensor in _batched(own, run, axes):
            is_meant = fill.only in ("", path) and fill.fits(tensor)
            if is_meant and path in others:
                by_row = tensor.movedim(dim, 0)
                pads, real = by_row[rows.real :], by_row[: rows.real].clone()
                fill.write(pads, real, others[path].movedim(dim, 0)[rows.real :])
                is_filled = True
    return own if is_filled else None


def with_real_rows(call: Call, run: Run, axes: Axes, count: int, stale: Call) -> Call:
    """Return the call with the first `count` rows of another step in the place of its own."""
    own = _writable(call, run, axes)
    others = tensors_of(stale, run)
    with torch.inference_mode():
        for path, dim, tensor in _batched(own, run, axes):
            if path in others:
                tensor.movedim(dim, 0)[:count].copy_(others[path].movedim(dim, 0)[:count])
    return own


def cut(call: Call, run: Run, axes: Axes, count: int) -> Call:
    """Return the call with its first `count` rows alone."""
    made = {
        id(tensor): tensor.detach().narrow(dim, 0, count).clone()
        for _, dim, tensor in _batched(call, run, axes)
    }
    return _with(call, made).copied()


def spliced(call: Call, run: Run, axes: Axes, rows: Rows, other: Call) -> Call | None:
    """Return the call with the pad rows of `other`, which differs in more; None if it cannot be told.

    What has no rows stays as it is in `call`.
    """
    own = _writable(call, run, axes)
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


def _batched(call: Call, run: Run, axes: Axes) -> Iterator[tuple[str, int, Tensor]]:
    """Yield the inputs of a case that have a batch dimension: path, dimension, tensor."""
    for path, tensor in tensors_of(call, run).items():
        found = axes.get(path)
        if found:
            yield path, found[0].dim, tensor


def _writable(call: Call, run: Run, axes: Axes) -> Call:
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
