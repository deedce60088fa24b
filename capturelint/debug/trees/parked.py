"""A tree of values kept for later: what it holds on the device lies on the host until then."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

import torch
from torch import Tensor

from capturelint.debug.trees.copies import copied
from capturelint.debug.trees.hosted import is_large_on_device, on_device, on_host
from capturelint.debug.trees.memory import storage_key, storage_of

_Tree = TypeVar("_Tree")


class Parked(Generic[_Tree]):
    """A copy of a tree, as `copied` makes them. `size`: bytes of the tensors in it.

    Small tensors stay on the device, and so do those without a storage of their own.
    """

    def __init__(self, tree: _Tree, *, shared: Iterable[object] = ()) -> None:
        self.size = 0
        self._devices: dict[int | None, torch.device] = {}
        self._shared = tuple(shared)
        self._tree = copied(tree, shared=self._shared, move=self._leave)

    def back(self) -> _Tree:
        """Return a copy where the tree was: tensors share memory with each other as they did."""
        return copied(self._tree, shared=self._shared, move=self._return)

    def shown(self) -> _Tree:
        """Return the tree to be read alone: what lies on the device is not copied."""
        return self.back() if self._devices else self._tree

    def _leave(self, memory: Tensor) -> Tensor:
        self.size += memory.nbytes
        storage = storage_of(memory)
        if storage is None or not is_large_on_device(storage, memory.nbytes):
            return memory.clone()
        moved = on_host(memory)
        self._devices[storage_key(moved)] = memory.device
        return moved

    def _return(self, memory: Tensor) -> Tensor:
        device = self._devices.get(storage_key(memory))
        return memory.clone() if device is None else on_device(memory, device)


def back(value: object) -> object:
    """Return the tree that is parked in `value`, or `value` itself if none is."""
    return value.back() if isinstance(value, Parked) else value


def shown(value: object) -> object:
    """Return the tree that is parked in `value`, or `value` itself, to be read alone."""
    return value.shown() if isinstance(value, Parked) else value
