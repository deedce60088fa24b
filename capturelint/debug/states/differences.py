"""What two moments of watched objects differ in, named by paths, with the values in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from capturelint.debug.states.contents import changed_array_element, changed_element
from capturelint.debug.states.host_random import is_same_state
from capturelint.debug.states.kinds import Kind, kind_of
from capturelint.debug.states.marks import ArrayMark, GeneratorMark, TensorMark
from capturelint.debug.states.sections import Attributes, Items, Section, dotted
from capturelint.debug.states.storages import Contents
from capturelint.debug.states.watched import Node, Watched
from capturelint.debug.trees.descriptions import described

_Kept = Mapping[Any, object]


@dataclass(frozen=True, slots=True)
class Change:
    """Something outside the memory of the device that a call changed.

    `name`: such as `layers.0.step`, `global _count` or `random`. `kind`: `number`, `rebound`,
    `grew`, `created`, `host tensor` or `host random numbers`. `before`, `after`: in words.
    """

    name: str
    kind: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """How to get to a thing again: from an object that stays, through sections."""

    start: object
    steps: tuple[tuple[Section, Any], ...] = ()

    def to(self, section: Section, key: Any) -> Route:
        """Return the route one step further."""
        return Route(self.start, (*self.steps, (section, key)))

    def end(self) -> object:
        """Return what is there now. Raises `LookupError` or `AttributeError` if nothing is."""
        value = self.start
        for section, key in self.steps:
            value = section.get(value, key)
        return value


@dataclass(frozen=True, slots=True)
class Moment:
    """The watched objects at one time, and what their storages held."""

    watched: Watched
    storages: Mapping[int, Contents]


def differences(before: Moment, after: Moment) -> Iterator[tuple[Change, Route]]:
    """Yield what changed, and how to get to it."""
    compare = _Comparison(before, after)
    for key, (path, owner) in before.watched.starts.items():
        if key in after.watched.nodes:
            yield from compare.nodes(owner, owner, path, Route(owner))


class _Comparison:
    def __init__(self, before: Moment, after: Moment) -> None:
        self._before, self._after = before, after
        self._met: set[tuple[int, int]] = set()

    def nodes(
        self, was: object, now: object, path: str, route: Route
    ) -> Iterator[tuple[Change, Route]]:
        """Compare what two objects of one class hold, or one object at both times."""
        if (id(was), id(now)) in self._met:
            return
        self._met.add((id(was), id(now)))
        before = self._before.watched.nodes.get(id(was))
        after = self._after.watched.nodes.get(id(now))
        if before is None or after is None:  # too large, or too deep
            return
        for (section, held), (_, kept) in zip(before.held, after.held, strict=True):
            if isinstance(section, Items):
                yield from self._items(section, held, kept, path, route)
            else:
                was_there, is_there = (
                    _reported(before, section, held),
                    _reported(after, section, kept),
                )
                yield from self._named(section, was_there, is_there, path, route)

    def _items(
        self, section: Items, held: _Kept, kept: _Kept, path: str, route: Route
    ) -> Iterator[tuple[Change, Route]]:
        if len(held) != len(kept):
            yield Change(path, "grew", f"{len(held)} items", f"{len(kept)} items"), route
            if not section.container.has_keys:
                return  # what was at a place may now be at another
        for key, was in held.items():
            if key in kept:
                yield from self._values(
                    was, kept[key], section.name(path, key), route.to(section, key)
                )

    def _named(
        self, section: Section, held: _Kept, kept: _Kept, path: str, route: Route
    ) -> Iterator[tuple[Change, Route]]:
        for key, was in held.items():
            name, further = section.name(path, key), route.to(section, key)
            if key in kept:
                yield from self._values(was, kept[key], name, further)
            else:
                yield Change(name, "rebound", described(was), "deleted"), further
        for key, now in kept.items():
            if key not in held:
                created = Change(section.name(path, key), "created", "", described(now))
                yield created, route.to(section, key)

    def _values(
        self, was: object, now: object, name: str, route: Route
    ) -> Iterator[tuple[Change, Route]]:
        kind = kind_of(type(was))
        if kind is Kind.SCALAR and was is now:
            return
        if kind is not kind_of(type(now)) or (kind is Kind.MODULE and was is not now):
            yield Change(name, "rebound", described(was), described(now)), route
        elif kind in (Kind.MODULE, Kind.CONTAINER, Kind.OBJECT) and type(was) is type(now):
            yield from self.nodes(was, now, name, route)
        elif kind in (Kind.TENSOR, Kind.ARRAY, Kind.GENERATOR):
            for change in self._marks(was, now, name):
                yield change, route
        elif not _is_equal(was, now):
            word = "number" if kind is Kind.SCALAR else "rebound"
            yield Change(name, word, described(was), described(now)), route

    def _marks(self, was: object, now: object, name: str) -> Iterator[Change]:
        before = self._before.watched.marks.get(id(was))
        after = self._after.watched.marks.get(id(now))
        if isinstance(before, TensorMark) and isinstance(after, TensorMark):
            yield from self._tensors(before, after, name)
        elif isinstance(before, ArrayMark) and isinstance(after, ArrayMark):
            texts = changed_array_element(before, after)
            if texts is not None:
                yield Change(name, "host tensor", *texts)
        elif (
            isinstance(before, GeneratorMark)
            and isinstance(after, GeneratorMark)
            and not is_same_state(before.state, after.state)
        ):
            yield Change(name, "host random numbers")

    def _tensors(self, before: TensorMark, after: TensorMark, name: str) -> Iterator[Change]:
        if before.place != after.place or (
            before.place is None and before.tensor is not after.tensor
        ):
            yield Change(name, "rebound", before.in_words, after.in_words)
            return
        if before.tensor is after.tensor and before.requires_grad != after.requires_grad:
            flags = repr(before.requires_grad), repr(after.requires_grad)
            yield Change(dotted(name, "requires_grad"), "number", *flags)
        if before.place is None:
            return
        held = self._before.storages.get(before.place.storage)
        kept = self._after.storages.get(before.place.storage)
        if held is not None and kept is not None and held.is_host:
            texts = changed_element(before, held, kept)
            if texts is not None:
                yield Change(name, "host tensor", *texts)


def _reported(node: Node, section: Section, held: _Kept) -> _Kept:
    """Return what is worth a report: not what torch's own objects keep for themselves."""
    if not isinstance(section, Attributes) or not type(node.owner).__module__.startswith("torch."):
        return held
    return {name: value for name, value in held.items() if not name.startswith("_")}


def _is_equal(was: Any, now: Any) -> bool:
    if was is now:
        return True
    try:
        return type(was) is type(now) and bool(was == now or (was != was and now != now))
    except Exception:  # noqa: BLE001 - a class may compare as it likes
        return False
