"""Which memory tensors lie in: storages, the bytes that a tensor spans, flat views of both."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of one storage, from `start` up to `stop`."""

    start: int
    stop: int

    @property
    def size(self) -> int:
        """Return the bytes it has."""
        return self.stop - self.start


def is_array(cls: type) -> bool:
    """Return whether `cls` is that of numpy's arrays, without importing numpy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(cls, numpy.ndarray)


def storage_key(tensor: Tensor) -> int | None:
    """Return what tells the tensor's storage from others alive, or None when it has none."""
    storage = storage_of(tensor)
    return None if storage is None else int(storage._cdata)  # noqa: SLF001 - torch's own identity


def storage_of(tensor: Tensor) -> torch.UntypedStorage | None:
    """Return the storage that holds the elements, or None for sparse, nested, meta and wrappers."""
    if hasattr(type(tensor), "__tensor_flatten__"):  # a wrapper around other tensors
        return None
    try:
        is_odd = tensor.layout is not torch.strided or tensor.is_nested or tensor.is_quantized
        return None if is_odd or tensor.is_meta else tensor.untyped_storage()
    except (RuntimeError, ValueError, TypeError):  # a parameter not yet initialized
        return None


def memory_of(tensors: Iterable[Tensor]) -> int:
    """Return the bytes of the storages that `tensors` lie in, each once."""
    storages = (storage_of(tensor) for tensor in tensors)
    return sum({one._cdata: one.nbytes() for one in storages if one is not None}.values())  # noqa: SLF001 - as above


def shape_of(tensor: Tensor) -> tuple[object, ...]:
    """Return the sizes; of a nested tensor those of each part, as some kinds have none in all."""
    parts = tensor.unbind() if tensor.is_nested else ()
    return tuple(tuple(part.shape) for part in parts) if tensor.is_nested else tuple(tensor.shape)


def span_of(tensor: Tensor) -> Span:
    """Return the bytes from the first to the last element, with the gaps between them."""
    size = tensor.element_size()
    start = int(tensor.storage_offset()) * size
    if tensor.numel() == 0:
        return Span(start, start)
    last = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    return Span(start, start + (last + 1) * size)


def common_span(tensors: Iterable[Tensor]) -> Span:
    """Return the bytes from the first to the last element of all of them."""
    spans = [span_of(tensor) for tensor in tensors]
    return Span(min(span.start for span in spans), max(span.stop for span in spans))


def bare(tensor: Tensor) -> Tensor:
    """Return a view of the stored elements: detached, neither conjugated nor negated lazily."""
    view = tensor.detach()
    if view.is_conj():
        view = view.conj()
    return torch._neg_view(view) if view.is_neg() else view  # noqa: SLF001 - no public inverse


def dressed(stored: Tensor, like: Tensor) -> Tensor:
    """Undo `bare`: conjugate and negate `stored` as lazily as `like` is."""
    if like.is_neg():
        stored = torch._neg_view(stored)  # noqa: SLF001 - no public inverse
    return stored.conj() if like.is_conj() else stored


def flat(tensors: Iterable[Tensor], span: Span) -> Tensor:
    """Return the elements in `span` of the storage that all of `tensors` share, in one dimension.

    Of the dtype with the smallest elements. Bytes at the end that fill no element are left out.
    """
    finest = bare(min(tensors, key=lambda tensor: tensor.element_size()))
    size = finest.element_size()
    return finest.as_strided((span.size // size,), (1,), span.start // size)


def is_overlapping(tensor: Tensor) -> bool:
    """Return whether two elements may lie in the same place, as after `expand`."""
    extent = 1
    for step, n in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if n == 1:
            continue
        if step < extent:
            return tensor.numel() > 0
        extent = (n - 1) * step + extent
    return False


def may_share(one: Tensor, other: Tensor) -> bool:
    """Return whether some element of `one` may lie where one of `other` does."""
    key = storage_key(one)
    if key is None or key != storage_key(other):
        return False
    first, second = span_of(one), span_of(other)
    if first.start >= second.stop or second.start >= first.stop:
        return False
    return not _are_parts(one, other)


def _are_parts(one: Tensor, other: Tensor) -> bool:
    """Return whether two are different parts of one dense tensor, such as two chunks of its columns."""
    if one.dtype != other.dtype or one.stride() != other.stride():
        return False
    dims = sorted(zip(one.stride(), one.shape, other.shape, strict=True), reverse=True)
    left, right = int(one.storage_offset()), int(other.storage_offset())
    found, room = False, None
    for step, n, m in dims:
        if (n, m) == (1, 1):
            continue
        if step == 0 or (room is not None and room % step):
            return False
        (place, left), (place_of_other, right) = divmod(left, step), divmod(right, step)
        end, end_of_other = place + n, place_of_other + m
        if room is not None and max(end, end_of_other) * step > room:
            return False  # it goes on in the next row
        found = found or end <= place_of_other or end_of_other <= place
        room = step
    return found or left != right
