"""What capturing one example showed, and how values are compared."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from capturelint.finding import Effect

REFUSES = Effect.REFUSES.value
STALE = Effect.STALE.value
# Every replay on fresh inputs computed what eager computes.
EQUAL = "replays-equal"
# It is captured, and there is nothing to compare.
CAPTURES = "captures"
RAISES = "raises-eagerly"
NONDETERMINISTIC = "nondeterministic"
# Neither captured nor refused: the process ended, hung, or cannot run it.
UNDECIDED = "undecided"

# A graph may be given another algorithm of cuBLAS than eager.
_RELATIVE, _ABSOLUTE = 1e-4, 1e-5
_RELATIVE_OF_HALVES = 1e-2


@dataclass(frozen=True, slots=True)
class Outcome:
    """`outcome`: one of the words above. `error`: the first line of what was said, or ""."""

    outcome: str
    error: str = ""


def said(error: BaseException) -> str:
    """Return kind and first line of the oldest error of a chain: the later ones only follow."""
    oldest = error
    while oldest.__context__ is not None:
        oldest = oldest.__context__
    line = next(iter(str(oldest).strip().splitlines()), "")
    return f"{type(oldest).__name__}: {line}"[:240]


def leaves(value: object) -> list[Any]:
    """Return copies of the tensors in `value`, and its numbers and texts; nothing of the rest."""
    return [
        leaf.detach().clone() if isinstance(leaf, Tensor) else leaf
        for leaf in pytree.tree_leaves(value)
        if isinstance(leaf, Tensor | bool | int | float | complex | str)
    ]


def is_equal(first: list[Any], second: list[Any]) -> bool:
    """Return whether two results of `leaves` agree, tensors and floats up to rounding."""
    if len(first) != len(second):
        return False
    return all(_agree(one, other) for one, other in zip(first, second, strict=True))


def _agree(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        if (one.shape, one.dtype, one.device) != (other.shape, other.dtype, other.device):
            return False
        if one.is_floating_point() or one.is_complex():
            relative = _RELATIVE if one.element_size() > 2 else _RELATIVE_OF_HALVES
            return torch.allclose(one, other, rtol=relative, atol=_ABSOLUTE, equal_nan=True)
        return torch.equal(one, other)
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
    return type(one) is type(other) and bool(one == other)
