"""A number that was read from a tensor, compared: which type compares the tensor just the same.

Python compares numbers exactly. A tensor is compared in a type that both sides are brought to, which may
round, or wrap.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from capturelint.rewrite.literals import Number

_BITS = {"int8": 7, "uint8": 8, "int16": 15, "int32": 31, "int64": 63}
_FLOATS = frozenset(("float64", "float32", "float16", "bfloat16"))
_EXACT = 2**53  # up to here a double holds every integer


class Held(Enum):
    """What holds a side of a comparison."""

    READ = "a number that was read from a tensor"
    TENSOR = "a tensor"
    NUMBER = "a number"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison. `kinds`: types of a tensor such as `int64`; of a number `int`, `float`.

    `written`: the number that stands in the code, or None.
    """

    held: Held
    kinds: frozenset[str]
    written: Number | None = None


def conversion(read: Side, other: Side) -> str | None:
    """Return what to call on a tensor so that it compares as the number that was read from it.

    "" for nothing, None if nothing makes it compare exactly so.
    """
    if read.kinds and read.kinds <= _FLOATS:
        return ".double()" if _is_exact_float(read, other) else None
    if read.kinds and read.kinds <= _BITS.keys():
        return _of_integer(read, other)
    return None


def _is_exact_float(read: Side, other: Side) -> bool:
    if other.held is Held.TENSOR:
        # The number was brought to the type of the tensor.
        return len(read.kinds) == 1 and read.kinds == other.kinds
    if other.held is Held.READ:
        return bool(other.kinds) and other.kinds <= _FLOATS | (_BITS.keys() - {"int64"})
    if isinstance(other.written, int):
        return abs(other.written) <= _EXACT
    return bool(other.kinds) and other.kinds <= {"int", "float", "bool"}


def _of_integer(read: Side, other: Side) -> str | None:
    is_alike = len(read.kinds) == 1 and read.kinds == other.kinds
    if other.held is Held.TENSOR:
        return "" if is_alike else None
    if other.held is Held.READ and other.kinds and other.kinds <= _BITS.keys():
        return "" if is_alike else ".long()"
    if isinstance(other.written, int):
        return "" if all(_holds(kind, other.written) for kind in read.kinds) else ".long()"
    if other.held is Held.NUMBER and other.kinds and other.kinds <= {"int", "bool"}:
        return "" if read.kinds == {"int64"} else ".long()"
    is_float = bool(other.kinds) and other.kinds <= _FLOATS | {"float", "int", "bool"}
    # What is rounded to a double stays on the same side of a smaller number.
    is_between = isinstance(other.written, float) and not _EXACT <= abs(other.written) < float(
        "inf"
    )
    return ".double()" if is_float and ("int64" not in read.kinds or is_between) else None


def _holds(kind: str, value: int) -> bool:
    """Return whether integers of a type hold a number."""
    return (0 if kind == "uint8" else -(1 << _BITS[kind])) <= value < 1 << _BITS[kind]
