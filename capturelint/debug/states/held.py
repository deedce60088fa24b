"""Tensors on the device that calls keep outside of modules' registers, and how to reach them."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from capturelint.debug.states.differences import Route
from capturelint.debug.states.marks import Place, TensorMark
from capturelint.debug.states.sections import Items, Members, Section
from capturelint.debug.states.storages import is_host
from capturelint.debug.states.watched import Watched

_MOST_BYTES = 1 << 30  # of all that one run of a step copies
_PLAIN_KEYS = (str, int, float, bool, tuple, type(None))


@dataclass(frozen=True, slots=True)
class Held:
    """Attributes, items and variables that hold tensors on the device, by name.

    `written`: the storages that calls were seen to write, whatever the versions of tensors say.
    """

    routes: Mapping[str, Route] = field(default_factory=dict)
    written: Collection[int] = frozenset()

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """Return what is held now. What was deleted is left out."""
        for name, route in self.routes.items():
            try:
                value = route.end()
            except (LookupError, AttributeError):
                continue
            if isinstance(value, Tensor):
                yield name, value

    def is_written(self, place: Place | None) -> bool:
        """Return whether calls were seen to write what lies there."""
        return place is not None and place.storage in self.written


def held_in(moment: Watched, extra: Sequence[Tensor], written: Collection[int]) -> Held:
    """Return what the watched objects held on the device; of each tensor the shortest name.

    Without parameters that modules register. `extra`: tensors that nothing leads to. What goes
    beyond 1 GiB is left out: a copy of it is made for each step.
    """
    found = {name: route for name, route, _ in _tensors(moment, extra)}
    return Held(found, written)


def _tensors(moment: Watched, extra: Sequence[Tensor]) -> Iterator[tuple[str, Route, Tensor]]:
    names: set[str] = set()
    met: set[int] = set()
    left = _MOST_BYTES
    walked = (
        *_walked(moment),
        *((f"state[{number}]", Route(one), one) for number, one in enumerate(extra)),
    )
    for name, route, tensor in walked:
        size = tensor.numel() * tensor.element_size()
        if name in names or id(tensor) in met or size > left:
            continue
        names.add(name)
        met.add(id(tensor))
        left -= size
        yield name, route, tensor


def _walked(moment: Watched) -> Iterator[tuple[str, Route, Tensor]]:
    """Yield the tensors on the device that objects held, those nearest to the roots first."""
    waiting = deque((path, Route(owner)) for path, owner in moment.starts.values())
    owners = deque(owner for _, owner in moment.starts.values())
    met: set[int] = set()
    while waiting:
        (path, route), owner = waiting.popleft(), owners.popleft()
        node = moment.nodes.get(id(owner))
        if node is None or id(owner) in met:
            continue
        met.add(id(owner))
        for section, kept in node.held:
            if isinstance(section, Members) and section.kind == "_parameters":
                continue
            for number, (key, value) in enumerate(kept.items()):
                if id(value) in moment.nodes:
                    name = _name(section, path, key, number)
                    waiting.append((name, route.to(section, key)))
                    owners.append(value)
                elif _is_on_device(moment, value):
                    assert isinstance(value, Tensor)
                    yield _name(section, path, key, number), route.to(section, key), value


def _is_on_device(moment: Watched, value: object) -> bool:
    mark = moment.marks.get(id(value))
    if not isinstance(mark, TensorMark) or mark.place is None:
        return False
    return not is_host(mark.tensor)


def _name(section: Section, path: str, key: Any, number: int) -> str:
    # A key may be a tensor, as in the state of an optimizer: its words would read the device.
    is_odd = isinstance(section, Items) and not isinstance(key, _PLAIN_KEYS)
    return section.name(path, f"{type(key).__name__} {number}" if is_odd else key)
