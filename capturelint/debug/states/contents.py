"""Which element of host memory changed between two moments, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._mode_utils import no_dispatch

from capturelint.debug.states.marks import ArrayMark, TensorMark
from capturelint.debug.states.storages import Contents


def changed_element(mark: TensorMark, before: Contents, after: Contents) -> tuple[str, str] | None:
    """Return the first element of a host tensor that differs, in both contents of its storage.

    None if no element differs, bit by bit.
    """
    with no_dispatch(), torch.no_grad():
        one, other = _elements(mark, before), _elements(mark, after)
        differs = (one.view(torch.uint8) != other.view(torch.uint8)).nonzero()
        if not len(differs):
            return None
        place = int(differs[0]) // one.element_size()
        shape = mark.alias.shape if mark.alias is not None else one.shape
        return _text(one[place].item(), shape, place), _text(other[place].item(), shape, place)


def changed_array_element(before: ArrayMark, after: ArrayMark) -> tuple[str, str] | None:
    """Return the first element of an array that differs, or None if none does, bit by bit."""
    one, other = before.elements, after.elements
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        return f"array {one.shape}", f"array {other.shape}"
    if one.tobytes() == other.tobytes():
        return None
    pairs = enumerate(zip(one.ravel(), other.ravel(), strict=True))
    place, was, is_ = next(
        (place, was, is_) for place, (was, is_) in pairs if was.tobytes() != is_.tobytes()
    )
    return _text(was.item(), one.shape, place), _text(is_.item(), one.shape, place)


def _elements(mark: TensorMark, contents: Contents) -> torch.Tensor:
    """Return the elements that a tensor showed of these contents, in one dimension."""
    assert mark.alias is not None
    alias = mark.alias
    whole = torch.empty(0, dtype=alias.dtype, device=contents.bytes.device)
    whole.set_(contents.bytes, alias.storage_offset(), alias.shape, alias.stride())
    return whole.reshape(-1)


def _text(value: Any, shape: Sequence[int], place: int) -> str:
    """Return an element in words; `place`: its number in row-major order."""
    if not shape or place == 0 == sum(shape) - len(shape):
        return repr(value)
    index: list[int] = []
    for size in reversed(shape):
        place, remainder = divmod(place, size)
        index.append(remainder)
    return f"{value!r} at {list(reversed(index))}"
