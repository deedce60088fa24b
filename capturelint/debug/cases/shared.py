"""Objects that the inputs of all steps share, such as one cache: state of the case, no fresh inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from capturelint.debug.trees.attributes import attributes, set_attributes
from capturelint.debug.trees.branches import branches, is_object
from capturelint.debug.trees.containers import container_of
from capturelint.debug.trees.copies import with_others
from capturelint.debug.trees.trees import nodes

_Tree = TypeVar("_Tree")


class Shared:
    """The outermost objects and mutable containers that are one and the same in two steps.

    `objects`: by the path of each in the arguments, such as `cache` or `caches[0]`.
    """

    def __init__(self, first: Mapping[str, object], second: Mapping[str, object]) -> None:
        others = {id(one) for value in second.values() for one in nodes(value)}
        met: set[int] = set()
        self.objects: dict[str, object] = {
            path: one
            for name, value in first.items()
            for path, one in _outermost(value, name, others, met)
        }
        self._hidden = {id(value): _Hidden() for value in self.objects.values()}
        self._shown = {id(self._hidden[id(value)]): value for value in self.objects.values()}

    def apart(self, tree: _Tree, change: Callable[[_Tree], _Tree]) -> _Tree:
        """Return what `change` makes of `tree`, with these objects as they are."""
        if not self.objects:
            return change(tree)
        return with_others(change(with_others(tree, self._hidden)), self._shown)

    def become(self, change: Callable[[object], object]) -> None:
        """Make each object hold what `change` makes of it."""
        for value in self.objects.values():
            _take_over(value, change(value))


class _Hidden:
    """Stands for an object: trees do not descend into classes of this package."""


def _outermost(
    value: Any, path: str, others: set[int], met: set[int]
) -> Iterator[tuple[str, object]]:
    if id(value) in met:
        return
    met.add(id(value))
    if id(value) in others and is_mutable(value):
        yield path, value
        return
    for name, item in branches(value, path) or ():
        yield from _outermost(item, name, others, met)


def is_mutable(value: object) -> bool:
    """Return whether a call may change what `value` holds: an object or a container, no tensor."""
    container = container_of(type(value))
    return is_object(type(value)) if container is None else container.is_mutable


def _take_over(value: Any, new: Any) -> None:
    container = container_of(type(value))
    if container is not None:
        container.fill(value, container.items(new))
    set_attributes(value, attributes(new))
