"""What pad rows are made to hold, and calls with such rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from capturelint.debug.attempts.part import Call
from capturelint.debug.pads.calls import Axes, Run, batched, tensors_of, writable
from capturelint.debug.pads.rows import Rows

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


def is_floating(tensor: Tensor) -> bool:
    """Return whether it holds numbers that may be infinite."""
    is_number = tensor.is_floating_point() or tensor.is_complex()
    return is_number and tensor.itemsize >= _FEWEST_BYTES


def is_integer(tensor: Tensor) -> bool:
    """Return whether it holds integers."""
    return not (tensor.is_floating_point() or tensor.is_complex() or is_truth(tensor))


def _is_float8(tensor: Tensor) -> bool:
    return tensor.dtype in (torch.float8_e4m3fn, torch.float8_e5m2)


def is_truth(tensor: Tensor) -> bool:
    """Return whether it holds truth values."""
    return tensor.dtype == torch.bool


def _is_drawable(tensor: Tensor) -> bool:
    return is_floating(tensor) or is_integer(tensor) or is_truth(tensor)


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
    Fill("zero", is_floating, _number(0.0)),
    Fill("1e4", is_floating, _number(_LARGE)),
    Fill("-1e4", is_floating, _number(-_LARGE)),
)
# Those that tell most of what to mend first: NaN and infinity move what finite values do not.
FILLS = (
    Fill("rows of another step", lambda _: True, lambda pads, _, stale: pads.copy_(stale)),
    *NUMBERS,
    Fill("other rows' integers", is_integer, _other_rows),
    Fill("other rows", _is_drawable, _other_rows),
    Fill("the largest float8", _is_float8, _largest),
    # Engines pad ids with it; of a slot or a position it may be what no real row has.
    Fill("the integer 0", is_integer, _number(0), is_whole=False),
    Fill("the lowest integers", is_integer, _lowest, is_whole=False),
    Fill("the highest integers", is_integer, _highest, is_whole=False),
    *(_draws(seed) for seed in range(1, 4)),
    Fill("True", is_truth, _number(1)),
    Fill("False", is_truth, _number(0)),
    Fill("Inf", is_floating, _number(math.inf), is_finite=False),
    Fill("NaN", is_floating, _number(math.nan), is_finite=False),
    Fill("NaN in float8", _is_float8, _nan, is_finite=False),
)


def fills_of(call: Call, run: Run, axes: Axes) -> tuple[Fill, ...]:
    """Return the fills for the inputs of a call.

    Where several of these are integers, each is also the only one that other rows give: a slot of
    a real row then gets a token of another.
    """
    integers = [path for path, _, tensor in batched(call, run, axes) if is_integer(tensor)]
    if len(integers) == 1:
        return FILLS
    alone = (
        Fill(f"other rows' `{path}`", is_integer, _other_rows, only=path, is_whole=False)
        for path in integers
    )
    place = FILLS.index(next(fill for fill in FILLS if not fill.is_whole))
    return (*FILLS[:place], *alone, *FILLS[place:])


def filled(call: Call, run: Run, axes: Axes, rows: Rows, fill: Fill, stale: Call) -> Call | None:
    """Return the call with `fill` in its pad rows; None if none of its inputs can hold that."""
    own = writable(call, run, axes)
    others = tensors_of(stale, run)
    is_filled = False
    with torch.inference_mode():  # tensors made in it can only be written in it
        for path, dim, tensor in batched(own, run, axes):
            is_meant = fill.only in ("", path) and fill.fits(tensor)
            if is_meant and path in others:
                by_row = tensor.movedim(dim, 0)
                pads, real = by_row[rows.real :], by_row[: rows.real].clone()
                fill.write(pads, real, others[path].movedim(dim, 0)[rows.real :])
                is_filled = True
    return own if is_filled else None
