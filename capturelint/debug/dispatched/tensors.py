"""The tensors of operations: those of a result, the memory they lie in, and who made that."""

# ruff: noqa: SLF001 - a storage has no public name
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch

from capturelint.debug.dispatched.schema import Schema

Made = tuple[tuple[int, torch.Tensor], ...]


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors that `value` is or holds in lists and tuples, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)


def tensors_of(result: Any) -> list[torch.Tensor]:
    """Return the tensors of an operator's result, in order."""
    if isinstance(result, torch.Tensor):
        return [result]
    return list(tensors_in(result))


def storage_of(tensor: torch.Tensor) -> int:
    """Return what identifies the storage of a plain tensor while it lives; of a sparse one's values."""
    if tensor.layout is not torch.strided:
        tensor = tensor._values() if tensor.layout is torch.sparse_coo else tensor.values()
    key: int = tensor.untyped_storage()._cdata
    return key


def made_of(schema: Schema, given: Iterable[torch.Tensor], result: Any) -> Made:
    """Return position and tensor of each result with a storage that none of `given` has."""
    if schema.is_view:
        return ()
    known = {storage_of(tensor) for tensor in given}
    return tuple(
        (position, tensor)
        for position, tensor in enumerate(tensors_of(result))
        if storage_of(tensor) not in known
    )


def is_work(schema: Schema, result: Any, made: Made) -> bool:
    """Return whether a replay has to do something for an operation."""
    if schema.allocates or schema.reshapes:
        return False
    return bool(made or schema.writes or result is None)
