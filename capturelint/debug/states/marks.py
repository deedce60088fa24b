"""What an object holds outside its attributes: a tensor's memory, an array, a generator's state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from capturelint.debug.states.host_random import Generator
from capturelint.debug.trees.descriptions import described
from capturelint.debug.trees.memory import storage_key


class Mark(Protocol):
    """What is kept of one object to put it back."""

    def restore(self) -> None:
        """Put the object back as it was when the mark was made."""


class Place(NamedTuple):
    """Which elements of which storage a tensor shows."""

    storage: int
    offset: int
    shape: torch.Size
    strides: tuple[int, ...]
    dtype: torch.dtype


@dataclass(frozen=True, slots=True)
class TensorMark:
    """Which memory a tensor shows; not what is in it. `alias`: shows the same memory.

    `place`: None without a storage. `gradient`: of a leaf of autograd.
    """

    tensor: Tensor
    place: Place | None
    alias: Tensor | None
    requires_grad: bool
    gradient: Tensor | None

    @property
    def in_words(self) -> str:
        """Return dtype and shape."""
        return described(self.tensor if self.alias is None else self.alias)

    def restore(self) -> None:
        tensor = self.tensor
        if self.alias is not None and place_of(tensor) != self.place:
            tensor.data = self.alias
        if not tensor.is_leaf:
            return
        if tensor.requires_grad != self.requires_grad:
            tensor.requires_grad_(self.requires_grad)
        if tensor.grad is not self.gradient:
            tensor.grad = self.gradient


def place_of(tensor: Tensor) -> Place | None:
    """Return which elements of which storage a tensor shows, None when it has no storage."""
    key = storage_key(tensor)
    if key is None:
        return None
    return Place(key, int(tensor.storage_offset()), tensor.shape, tensor.stride(), tensor.dtype)


def tensor_mark(tensor: Tensor, known: TensorMark | None) -> TensorMark:
    """Return the mark of a tensor. `known`: an earlier one, whose alias is used again if it fits.

    The storage of that one may be gone and its address used again: no mark may outlive its tensor.
    """
    place = place_of(tensor)
    if known is not None and known.tensor is tensor and known.place == place:
        alias = known.alias
    elif place is not None:
        with torch.inference_mode(mode=tensor.is_inference()):
            alias = tensor.detach()
    else:
        alias = None
    gradient = tensor.grad if tensor.is_leaf else None
    return TensorMark(tensor, place, alias, tensor.requires_grad, gradient)


@dataclass(frozen=True, slots=True)
class ArrayMark:
    """What a numpy array holds."""

    array: Any
    elements: Any

    def restore(self) -> None:
        if self.array.flags.writeable:
            self.array[...] = self.elements


@dataclass(frozen=True, slots=True)
class GeneratorMark:
    """What state a generator is in."""

    generator: Generator
    state: Any

    def restore(self) -> None:
        self.generator.set_state(self.state)
