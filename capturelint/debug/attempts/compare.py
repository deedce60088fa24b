"""Whether a replay computed what eager did: the first leaf that differs by more than rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch
from torch import Tensor

from capturelint.debug.trees.descriptions import described
from capturelint.debug.trees.memory import shape_of
from capturelint.debug.trees.trees import Leaf, leaves

# What other kernels for the same sum may differ by: relative to the largest of the elements that
# differ, and absolute. Complex dtypes are as their parts, integers are exact.
_BOUNDS: Mapping[torch.dtype, tuple[float, float]] = {
    torch.float64: (1e-10, 1e-12),
    torch.float32: (1e-5, 1e-6),
    torch.float16: (4e-3, 2e-5),
    torch.bfloat16: (3e-2, 1e-4),
    torch.float8_e4m3fn: (0.25, 2**-9),
    torch.float8_e4m3fnuz: (0.25, 2**-10),
    torch.float8_e5m2: (0.5, 2**-16),
    torch.float8_e5m2fnuz: (0.5, 2**-17),
}
_EIGHT_BITS = frozenset(dtype for dtype in _BOUNDS if dtype.itemsize == 1)
_WIDE = 8  # bytes of the integers that hold the differences of smaller ones
# Of values of other types nothing but the type is compared: equality may mean anything there.
_PLAIN = (
    *(int, float, complex, str, bytes, range, slice, Enum, type(None)),
    *(torch.dtype, torch.device, torch.layout),
)


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two trees differ. `path`: "" is the tree itself. `expected`, `got`: in words.

    `largest`: absolute difference of two elements, `tolerance`: the bound that it passes; both are
    None where it is no matter of numbers.
    """

    path: str
    expected: str
    got: str
    largest: float | None = None
    tolerance: float | None = None
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How much a replay may differ. `rtol`, `atol`: None for the bound of each dtype.

    `rtol` is relative to the largest of the elements that differ: a mask of -1e9 must not hide what
    happens next to it. `floor`: by path, what two eager runs differ by, which is added.
    """

    rtol: float | None = None
    atol: float | None = None
    floor: Mapping[str, float] | None = None

    def bound(self, path: str, dtype: torch.dtype, scale: float) -> float:
        """Return the largest absolute difference that counts as equal."""
        rtol, atol = _BOUNDS.get(_real(dtype), (0.0, 0.0))
        rtol = rtol if self.rtol is None else self.rtol
        atol = atol if self.atol is None else self.atol
        return atol + rtol * scale + self.floor_of(path)

    def floor_of(self, path: str) -> float:
        """Return what two eager runs differ by at `path`."""
        return (self.floor or {}).get(path, 0.0)


EXACT = Tolerance(0.0, 0.0)


def difference(expected: object, got: object, tolerance: Tolerance) -> Difference | None:
    """Return the first leaf at which `got` is not `expected`, or None. NaN equals NaN."""
    return next(_differences(expected, got, tolerance), None)


def floor(first: object, second: object) -> dict[str, float]:
    """Return what two eager runs differ by at each leaf that differs: infinity for no number."""
    return {
        one.path: math.inf if one.largest is None else one.largest
        for one in _differences(first, second, EXACT)
    }


def _differences(expected: object, got: object, tolerance: Tolerance) -> Iterator[Difference]:
    ours, theirs = leaves(expected), leaves(got)
    if [leaf.path for leaf in ours] != [leaf.path for leaf in theirs]:
        found = _of_structure(ours, theirs)
        if tolerance.floor_of(found.path) < math.inf:
            yield found
        return
    with torch.no_grad():
        for leaf, other in zip(ours, theirs, strict=True):
            one = _of_leaf(leaf.path, leaf.value, other.value, tolerance)
            if one is not None:
                yield one


def _of_structure(ours: list[Leaf], theirs: list[Leaf]) -> Difference:
    mine, others = ({leaf.path: leaf for leaf in tree} for tree in (ours, theirs))
    path = next(
        (leaf.path for leaf in (*ours, *theirs) if (leaf.path in mine) != (leaf.path in others)), ""
    )
    expected, got = (
        described(tree[path].value) if path in tree else "nothing" for tree in (mine, others)
    )
    return Difference(path, expected, got)


def _of_leaf(path: str, expected: object, got: object, tolerance: Tolerance) -> Difference | None:
    first, second = _as_tensor(expected), _as_tensor(got)
    if first is None or second is None:
        if _is_same(expected, got) or tolerance.floor_of(path) == math.inf:
            return None
        return Difference(path, described(expected), described(got))
    if _kind(first) != _kind(second):
        return Difference(path, described(first), described(second))
    measured = _measure(first, second)
    if measured is None:
        return None
    largest, scale = measured
    bound = tolerance.bound(path, first.dtype, scale)
    if largest <= bound:
        return None
    name = str(first.dtype).removeprefix("torch.")
    return Difference(path, described(first), described(second), largest, bound, name)


def _is_same(expected: object, got: object) -> bool:
    """Return whether two values that are no tensors are the same, as far as one can tell."""
    if not isinstance(expected, _PLAIN) or not isinstance(got, _PLAIN):
        return type(expected) is type(got)
    if isinstance(expected, float) and isinstance(got, float) and math.isnan(expected):
        return math.isnan(got)
    return bool(expected == got)


def _as_tensor(value: Any) -> Tensor | None:
    """Return a tensor, or a numpy array of numbers as one; None for everything else."""
    if isinstance(value, Tensor):
        return value
    kind = value.dtype.kind if type(value).__module__ == "numpy" and hasattr(value, "dtype") else ""
    return torch.as_tensor(value) if kind and kind in "biufc" else None


def _kind(tensor: Tensor) -> tuple[object, ...]:
    return shape_of(tensor), tensor.dtype, tensor.device, tensor.layout


def _measure(expected: Tensor, got: Tensor) -> tuple[float, float] | None:
    """Return the largest difference and the largest expected element of those that differ.

    None where no element differs. Reads from the device.
    """
    if expected is got or expected.is_meta:
        return None
    first, second = _numbers(expected), _numbers(got)
    if torch.equal(first, second):
        return None
    differ = (first != second) & ~((first != first) & (second != second))
    if not differ.any():
        return None
    first, second = first[differ], second[differ]
    gaps = (first - second).double().abs().nan_to_num(nan=math.inf, posinf=math.inf)
    scale = first.double().abs().nan_to_num(nan=0.0, posinf=0.0)
    return float(gaps.max()), float(scale.max())


def _numbers(tensor: Tensor) -> Tensor:
    """Return the elements as numbers that can be subtracted: exact, dense, not complex."""
    if tensor.is_nested:
        return torch.cat([_numbers(part).flatten() for part in tensor.unbind()])
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_complex():
        return torch.view_as_real(tensor.resolve_conj())
    if tensor.dtype == torch.bool or (not tensor.is_floating_point() and tensor.itemsize < _WIDE):
        return tensor.long()
    return tensor.float() if tensor.dtype in _EIGHT_BITS else tensor


def _real(dtype: torch.dtype) -> torch.dtype:
    return dtype.to_real() if dtype.is_complex else dtype
