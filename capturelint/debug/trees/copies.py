"""Copies of trees: containers and objects anew, tensors cloned with the memory they share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

import torch
from torch import Tensor
from torch.nn.parameter import Parameter

from capturelint.debug.trees.attributes import attributes, set_attributes
from capturelint.debug.trees.branches import branches
from capturelint.debug.trees.containers import Container, container_of
from capturelint.debug.trees.memory import (
    Span,
    common_span,
    dressed,
    flat,
    is_array,
    storage_key,
    storage_of,
)

_Tree = TypeVar("_Tree")
# From the memory that tensors lie in, of one dimension, to a copy of it.
Move: TypeAlias = Callable[[Tensor], Tensor]
# Memory around a small view is left out; where the view starts, alignment stays as it was.
_SPARE = 4
_ALIGNMENT = 512  # bytes; what CUDA's allocator aligns to


def _cloned(memory: Tensor) -> Tensor:
    return memory.clone()


def copied(tree: _Tree, *, shared: Iterable[object] = (), move: Move = _cloned) -> _Tree:
    """Return a deep copy of `tree`: nothing that is written in the one is seen in the other.

    Tensors keep strides, `requires_grad` and the memory they share with each other; they are
    leaves of autograd. Parameters, modules, functions, generators and streams are not copied, nor
    what is `shared`. `move`: makes the copies of memory; what has no storage is cloned.
    """
    same = {id(value): value for value in shared}
    with torch.inference_mode(mode=False), torch.no_grad():
        met = list(nodes(tree, outside=same))
        made: dict[int, object] = {
            id(value): value.copy() for value in met if is_array(type(value))
        }
        tensors = (value for value in met if isinstance(value, Tensor))
        own = (tensor for tensor in tensors if not isinstance(tensor, Parameter))
        made.update(_clones(own, move))
        return _Copies({**made, **same}).of(tree)  # type: ignore[no-any-return] # same type


def with_same_tensors(tree: _Tree, *, shared: Iterable[object] = ()) -> _Tree:
    """Return a copy of `tree` that holds the same tensors, and what is `shared`.

    Made before a call that changes its arguments in place, it still tells what they held.
    """
    return _Copies({id(value): value for value in shared}).of(tree)  # type: ignore[no-any-return] # a copy has the type of its original


def with_others(tree: _Tree, others: Mapping[int, object]) -> _Tree:
    """Return a copy of `tree` that holds `others`, by the id of the value each stands for."""
    return _Copies(dict(others)).of(tree)  # type: ignore[no-any-return] # same type


class _Copies:
    """`made`: copies by the id of their original; the tree keeps the originals alive."""

    def __init__(self, made: dict[int, object]) -> None:
        self.made = made

    def of(self, value: Any) -> Any:
        if id(value) in self.made:
            return self.made[id(value)]
        container = container_of(type(value))
        if container is not None:
            return self._container(value, container)
        if branches(value, "") is None:
            return value
        cls: Any = type(value)
        new = self._keep(value, cls.__new__(cls))
        self._set_attributes(value, new)
        return new

    def _container(self, value: Any, container: Container) -> Any:
        items = container.items(value)
        if not container.is_mutable:
            copies = {key: self.of(item) for key, item in items.items()}
            if id(value) in self.made:  # met again inside itself
                return self.made[id(value)]
            if all(copies[key] is item for key, item in items.items()):
                return self._keep(value, value)
            new = self._keep(value, container.made(value, copies))
        else:
            new = self._keep(value, container.blank(value))
            container.fill(new, {self.of(key): self.of(item) for key, item in items.items()})
        self._set_attributes(value, new)
        return new

    def _keep(self, value: Any, new: Any) -> Any:
        self.made[id(value)] = new
        return new

    def _set_attributes(self, value: object, new: object) -> None:
        held = attributes(value)
        if held:
            set_attributes(new, {name: self.of(item) for name, item in held.items()})


def nodes(tree: object, *, outside: Collection[int] = ()) -> Iterator[Any]:
    """Yield the tree itself, all its nodes and all its leaves, each once.

    `outside`: ids of what is not entered.
    """
    met: set[int] = set(outside)
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        if id(value) in met:
            continue
        met.add(id(value))
        yield value
        waiting += [item for _, item in branches(value, "") or ()]


def _clones(tensors: Iterable[Tensor], move: Move) -> dict[int, object]:
    sharing: dict[int | None, list[Tensor]] = defaultdict(list)
    for tensor in tensors:
        sharing[storage_key(tensor)].append(tensor)
    made: dict[int, object] = {
        id(tensor): _finished(tensor.detach().clone(), tensor) for tensor in sharing.pop(None, ())
    }
    for group in sharing.values():
        made.update(_clones_of_one_storage(group, move))
    return made


def _clones_of_one_storage(group: list[Tensor], move: Move) -> dict[int, object]:
    span = _copied_span(group)
    memory = move(flat(group, span))
    made: dict[int, object] = {}
    for tensor in group:
        size = tensor.element_size()
        elements = memory
        if memory.dtype != tensor.dtype:
            whole = memory.numel() - memory.numel() % (size // memory.element_size())
            elements = memory[:whole].view(tensor.dtype)
        offset = tensor.storage_offset() - span.start // size
        stored = elements.as_strided(tensor.shape, tensor.stride(), offset)
        made[id(tensor)] = _finished(dressed(stored, tensor), tensor)
    return made


def _copied_span(group: list[Tensor]) -> Span:
    storage = storage_of(group[0])
    assert storage is not None
    span = common_span(group)
    if span.size * _SPARE > storage.nbytes():
        return Span(0, storage.nbytes())
    return Span(span.start - span.start % _ALIGNMENT, span.stop)


def _finished(clone: Tensor, tensor: Tensor) -> Tensor:
    clone.requires_grad_(tensor.requires_grad)
    # Marks that libraries put on tensors, and the attributes of subclasses.
    for name, value in vars(tensor).items():
        vars(clone).setdefault(name, value)
    return clone
