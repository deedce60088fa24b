"""The content of storages before they were written, to be put back."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import torch

from capturelint.debug.dispatched.tensors import storage_of
from capturelint.debug.simulated.tensor import DeviceTensor


class Snapshots:
    """Copies of storages, each made before its first write."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}

    def keep(self, tensors: Iterable[torch.Tensor], *, unless: Collection[int]) -> None:
        """Copy the storages of `tensors`, but those in `unless` and those already copied."""
        for tensor in tensors:
            plain = tensor.elem if isinstance(tensor, DeviceTensor) else tensor
            key = storage_of(plain)
            if key not in unless and key not in self._kept:
                storage = plain.untyped_storage()
                self._kept[key] = (storage, storage.clone())  # type: ignore[no-untyped-call]

    def restore(self) -> None:
        """Put the content back, and forget it."""
        for storage, content in self._kept.values():
            if storage.nbytes() != content.nbytes():
                storage.resize_(content.nbytes())
            storage.copy_(content)
        self._kept.clear()
