"""Which host memory is pinned: a copy of it is captured, and read again by each replay."""

# ruff: noqa: SLF001 - a storage has no public name
from __future__ import annotations

from typing import TypeVar

import torch
from torch.multiprocessing.reductions import StorageWeakRef

_Tensor = TypeVar("_Tensor", bound=torch.Tensor)


class PinnedMemory:
    """The pinned storages of a session. They are not kept alive by being known."""

    def __init__(self) -> None:
        # A weak reference keeps the address from being given to another storage.
        self._storages: dict[int, StorageWeakRef] = {}

    def holds(self, tensor: torch.Tensor) -> bool:
        """Return whether a plain tensor lies in pinned memory."""
        if not self._storages or not _has_storage(tensor):
            return False
        known = self._storages.get(tensor.untyped_storage()._cdata)
        return known is not None and not known.expired()  # type: ignore[no-untyped-call]  # torch has no types here

    def add(self, tensor: _Tensor) -> _Tensor:
        """Pin the memory of a plain tensor, and return the tensor."""
        if _has_storage(tensor):
            self._forget_dead()
            storage = tensor.untyped_storage()
            self._storages[storage._cdata] = StorageWeakRef(storage)  # type: ignore[no-untyped-call]
        return tensor

    def pinned(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return what `tensor.pin_memory()` returns: itself if it is pinned, else a pinned copy."""
        if self.holds(tensor):
            return tensor
        return self.add(tensor.detach().clone())

    def _forget_dead(self) -> None:
        dead = [
            key
            for key, storage in self._storages.items()
            if storage.expired()  # type: ignore[no-untyped-call]  # torch has no types here
        ]
        for key in dead:
            del self._storages[key]


def _has_storage(tensor: torch.Tensor) -> bool:
    return tensor.layout is torch.strided and tensor.device.type == "cpu" and not tensor.is_nested
