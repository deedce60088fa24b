"""All that a call can reach and change, found from modules and functions, at one moment."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor
from torch.nn.parameter import Parameter, is_lazy

from capturelint.debug.frames import is_users
from capturelint.debug.states.definitions import Definitions, Holder, holders_of, wrapped_by
from capturelint.debug.states.host_random import generator_of
from capturelint.debug.states.kinds import Kind, kind_of
from capturelint.debug.states.marks import ArrayMark, GeneratorMark, Mark, TensorMark, tensor_mark
from capturelint.debug.states.sections import ATTRIBUTES, MODULE, Items, Section
from capturelint.debug.states.storages import is_host
from capturelint.debug.trees.containers import container_of
from capturelint.debug.trees.per_class import once_per_class

_DEEPEST = 12  # objects in objects, from a module or root
_DEEPEST_IN_CODE = 4  # the same, from a variable of a file or class
_MOST_NODES = 20_000  # beyond modules; a trainer may lead to anything
_MOST_ITEMS = 100_000  # a vocabulary is no state, and to copy it takes milliseconds
_MOST_ITEMS_ENTERED = 4096
_MOST_HOST_BYTES = 1 << 24
_HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")


@dataclass(frozen=True, slots=True)
class Node:
    """One object and what it holds, by section."""

    owner: object
    held: tuple[tuple[Section, dict[Any, object]], ...]

    def restore(self) -> None:
        """Make the object hold again what it held."""
        for section, kept in self.held:
            section.write(self.owner, kept)


@dataclass(eq=False)
class Watched:
    """Objects by their id. `starts`: where paths start: by id, the path and the object.

    `buffers`: of all modules, and small tensors in host memory that no parameter is.
    """

    nodes: dict[int, Node] = field(default_factory=dict)
    marks: dict[int, Mark] = field(default_factory=dict)
    starts: dict[int, tuple[str, object]] = field(default_factory=dict)
    buffers: list[Tensor] = field(default_factory=list)

    @property
    def tensors(self) -> list[Tensor]:
        """Return all tensors found."""
        return [one.tensor for one in self.marks.values() if isinstance(one, TensorMark)]

    def restore(self) -> None:
        """Put every object back as it was. New ones are forgotten by those that were there."""
        for node in self.nodes.values():
            node.restore()
        for mark in self.marks.values():
            mark.restore()


def watched(
    roots: Mapping[str, object], definitions: Definitions, before: Watched | None
) -> Watched:
    """Return what can be reached now from `roots`, whose names are where their paths start.

    `definitions`: of all that was reached before; gains those that are new. `before`: an earlier
    answer, whose views of tensors are used again.
    """
    walk = _Walk(definitions, {} if before is None else before.marks)
    for path, root in roots.items():
        walk.start(path, root)
    walk.finish()
    return walk.found


class _Walk:
    """Visits objects, those nearest to the roots first."""

    def __init__(self, definitions: Definitions, known: Mapping[int, Mark]) -> None:
        self.found = Watched()
        self._definitions = definitions
        self._known = known
        self._wrappers: set[int] = set()
        # How to visit what, and how many objects are above it.
        self._waiting: deque[tuple[_Visit, Any, int]] = deque()

    def start(self, path: str, root: Any) -> None:
        holder = getattr(root, "__self__", root)
        if kind_of(type(holder)) in (Kind.MODULE, Kind.OBJECT, Kind.CONTAINER):
            self.found.starts[id(holder)] = path, holder
        self._wait((root,), 0)

    def finish(self) -> None:
        self._visit_waiting()
        for holder in self._definitions.holders:  # which grow meanwhile
            self._holder(holder, _DEEPEST - _DEEPEST_IN_CODE)
            self._visit_waiting()

    def _visit_waiting(self) -> None:
        waiting, nodes, marks = self._waiting, self.found.nodes, self.found.marks
        while waiting:
            visit, value, depth = waiting.popleft()
            if id(value) not in nodes and id(value) not in marks:
                visit(self, value, depth)

    def tensor(self, tensor: Tensor, depth: int) -> None:  # noqa: ARG002 - as all visits
        key = id(tensor)
        known = self._known.get(key)
        self.found.marks[key] = tensor_mark(
            tensor, known if isinstance(known, TensorMark) else None
        )
        if isinstance(tensor, Parameter) or is_lazy(tensor) or not is_host(tensor):
            return
        if tensor.numel() * tensor.element_size() <= _MOST_HOST_BYTES:
            self.found.buffers.append(tensor)

    def array(self, array: Any, depth: int) -> None:  # noqa: ARG002 - as all visits
        if array.nbytes <= _MOST_HOST_BYTES:
            self.found.marks[id(array)] = ArrayMark(array, array.copy())

    def generator(self, value: Any, depth: int) -> None:  # noqa: ARG002 - as all visits
        generator = generator_of(value)
        if generator is not None:
            self.found.marks[id(value)] = GeneratorMark(generator, generator.state())

    def module(self, module: Any, depth: int) -> None:  # noqa: ARG002 - as all visits
        self._node(module, MODULE, 0)
        held = vars(module)
        buffers = held.get("_buffers", {}).values()
        self.found.buffers += [buffer for buffer in buffers if buffer is not None]
        self._wait_unnamed([hook for name in _HOOKS for hook in held.get(name, {}).values()], 0)
        self._definitions.add_class(type(module))

    def container(self, value: Any, depth: int) -> None:
        container = container_of(type(value))
        if container is None or len(value) > _MOST_ITEMS or len(self.found.nodes) > _MOST_NODES:
            return
        is_entered = len(value) <= _MOST_ITEMS_ENTERED
        self._node(value, (Items(container), ATTRIBUTES), depth, is_entered=is_entered)

    def instance(self, value: object, depth: int) -> None:
        if depth > _DEEPEST or len(self.found.nodes) > _MOST_NODES:
            return
        self._node(value, (ATTRIBUTES,), depth)
        self._definitions.add_own_class(type(value))

    def method(self, method: Any, depth: int) -> None:
        self._wait_unnamed((method.__func__, method.__self__), depth)

    def partial(self, bound: Any, depth: int) -> None:
        self._wait_unnamed((bound.func, *bound.args, *bound.keywords.values()), depth)

    def function(self, function: Any, depth: int) -> None:
        if is_users(function.__code__):
            for holder in holders_of(function):
                self._holder(holder, depth)
            self._definitions.add_file_of(function)
        elif id(function) not in self._wrappers:
            self._wrappers.add(id(function))
            self._wait_unnamed(wrapped_by(function), depth)

    def _holder(self, holder: Holder, depth: int) -> None:
        if id(holder.owner) not in self.found.nodes:
            self.found.starts[id(holder.owner)] = holder.path, holder.owner
            self._node(holder.owner, holder.sections, depth)

    def _node(
        self, owner: object, sections: tuple[Section, ...], depth: int, *, is_entered: bool = True
    ) -> None:
        held = tuple((section, section.read(owner)) for section in sections)
        self.found.nodes[id(owner)] = Node(owner, held)
        if is_entered:
            for _, kept in held:
                self._wait(kept.values(), depth + 1)

    def _wait(self, values: Iterable[object], depth: int) -> None:
        for value in values:
            visit = _visit_of(type(value))
            if visit is not None:
                self._waiting.append((visit, value, depth))

    def _wait_unnamed(self, values: Iterable[object], depth: int) -> None:
        """Visit what no path leads to, such as the object of a hook, under the name of its class."""
        kept = list(values)
        for value in kept:
            if kind_of(type(value)) in (Kind.OBJECT, Kind.MODULE, Kind.CONTAINER):
                self.found.starts.setdefault(id(value), (type(value).__name__, value))
        self._wait(kept, depth)


_Visit = Callable[[_Walk, Any, int], None]
_VISITS: Mapping[Kind, _Visit] = {
    Kind.TENSOR: _Walk.tensor,
    Kind.ARRAY: _Walk.array,
    Kind.GENERATOR: _Walk.generator,
    Kind.MODULE: _Walk.module,
    Kind.CONTAINER: _Walk.container,
    Kind.OBJECT: _Walk.instance,
    Kind.METHOD: _Walk.method,
    Kind.PARTIAL: _Walk.partial,
    Kind.FUNCTION: _Walk.function,
}


@once_per_class
def _visit_of(cls: type) -> _Visit | None:
    return _VISITS.get(kind_of(cls))
