"""Storages that nobody needs, to be written over, and to be put back."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor

from capturelint.debug.trees.memory import storage_of


class Scratch:
    """The storages of some tensors. It keeps them alive, and a copy of what they held."""

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        found = [storage for tensor in tensors if (storage := storage_of(tensor)) is not None]
        self._storages = found
        self._before = [storage.clone() for storage in found]  # type: ignore[no-untyped-call]

    def fill(self, byte: int) -> None:
        """Write a byte all over them."""
        for storage in self._storages:
            storage.fill_(byte)  # type: ignore[attr-defined]  # torch does not tell of it

    def restore(self) -> None:
        """Let them hold what they held at first."""
        for storage, before in zip(self._storages, self._before, strict=True):
            storage.copy_(before)
