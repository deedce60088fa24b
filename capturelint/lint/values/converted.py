"""What a tensor becomes that is converted, or moved to where another is."""

from __future__ import annotations

from collections.abc import Sequence

from capturelint.kind import UNKNOWN, Kind, Pinned, Value
from capturelint.lint.values.factories import Keywords, dtype_of, is_dtype, place_of
from capturelint.lint.values.pinned import may_be_same_dtype


def converted(receiver: Value, args: Sequence[Value], keywords: Keywords) -> Value:
    """Return `x.to(...)` or `x.type(...)`."""
    kind, dtype = receiver.kind, receiver.dtype
    for arg in (*args, *(keywords[key] for key in ("dtype", "device", "other") if key in keywords)):
        if is_dtype(arg):
            dtype = dtype_of(arg)
        elif arg.is_tensor:
            kind, dtype = arg.kind, arg.dtype
        elif arg.name == "@device" or (arg.constant and isinstance(arg.constant[0], str)):
            kind = place_of(arg)
        elif arg.constant and isinstance(arg.constant[0], bool):
            continue
        else:
            dtype = ""
            if receiver.kind is Kind.HOST_TENSOR:
                return UNKNOWN
    found = moved(receiver, kind, dtype)
    if kind is Kind.HOST_TENSOR and _lands_pinned(receiver, args, keywords.get("non_blocking")):
        return found._replace(pinned=Pinned.YES)
    copies = keywords.get("copy")
    is_copied = copies is not None and copies.constant == (True,)
    return found._replace(pinned=Pinned.NO) if is_copied else found


def moved(receiver: Value, kind: Kind, dtype: str) -> Value:
    """Return a tensor at `kind` and of `dtype`: itself where it is so already."""
    is_same = kind is receiver.kind and may_be_same_dtype(receiver.dtype, dtype)
    return Value(kind, dtype, receiver.rank, pinned=receiver.pinned if is_same else Pinned.NO)


def _lands_pinned(receiver: Value, args: Sequence[Value], waits: Value | None) -> bool:
    """Return whether a copy to the host may land in pinned memory, as one that does not wait does.

    `args`, `waits`: the positional arguments of `.to`, and what `non_blocking` is given.
    """
    if receiver.kind is not Kind.DEVICE_TENSOR:
        return False
    is_asked = waits is not None and waits.constant not in ((False,), (None,))
    return is_asked or any(arg.constant == (True,) for arg in args)
