"""Values as text and as numbers, so that what was evaluated can be kept from run to run."""

from __future__ import annotations

import json
from typing import Any

from capturelint.kind import Kind, Mark, Pinned, Ref, Role, Source, Value
from capturelint.lint.values.kept import Arms, RawSpan

_dumps = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_KINDS = tuple(Kind)
_MARKS = tuple(Mark)
_KIND_AT = {kind: at for at, kind in enumerate(_KINDS)}
_MARK_AT = {mark: at for at, mark in enumerate(_MARKS)}
_PLAIN = (str, bool, float, type(None))
_LARGEST = 2**63
_MOST_REMEMBERED = 20_000


class UnsaidError(Exception):
    """Something that cannot be kept: a lambda, a constant that JSON lacks, a place not met before."""


class Places:
    """The places in one function that its evaluations speak of, numbered as they are first met.

    So what two versions of a function say can be compared although their lines differ. Spans are
    those of the function's own tree, in which its text begins on line `first`; `lines` count from
    there.
    """

    __slots__ = ("_arms", "_first", "_lines", "_spans", "lines", "spans")

    def __init__(self, first: int) -> None:
        self._first = first
        self.spans: list[RawSpan] = []
        self.lines: list[int] = []
        self._spans: dict[RawSpan, int] = {}
        self._lines: dict[int, int] = {}
        self._arms: dict[Arms, int] = {}

    def span(self, span: RawSpan) -> int:
        """Return the number of a span."""
        found = self._spans.get(span)
        if found is None:
            found = self._spans[span] = len(self.spans)
            self.spans.append(span)
        return found

    def line(self, line: int) -> int:
        """Return the number of a line."""
        found = self._lines.get(line)
        if found is None:
            found = self._lines[line] = len(self.lines)
            self.lines.append(line - self._first)
        return found

    def arms(self, arms: Arms, function: int) -> list[int]:
        """Return arms of the function as numbers: the number of the same arms alone if met before."""
        found = self._arms.get(arms)
        if found is not None:
            return [-1, found]
        self._arms[arms] = len(self._arms)
        said = [len(arms)]
        for (home, line), outcome in arms:
            if home != function:
                raise UnsaidError
            said += (self.line(line), int(outcome))
        return said


class Coding:
    """Numbers of names and values, which hold for all functions of a run.

    `names` and `values` are texts by number, of values as JSON.
    """

    def __init__(self, names: list[str] | None = None, values: list[str] | None = None) -> None:
        self.names = [] if names is None else names
        self.values = [] if values is None else values
        self._names = {name: at for at, name in enumerate(self.names)}
        self._texts = {text: at for at, text in enumerate(self.values)}
        self._plain: dict[Value, int] = {}
        # By identity, which is quickest; the value is held so that nothing else gets its identity.
        self._remembered: dict[int, tuple[int, Value]] = {}

    def name(self, name: str) -> int:
        """Return the number of a name."""
        found = self._names.get(name)
        if found is None:
            found = self._names[name] = len(self.names)
            self.names.append(name)
        return found

    def value(self, value: Value, places: Places, function: int) -> int:
        """Return the number of a value. Places in `function` are said by their own numbers.

        Raises `UnsaidError` where it cannot be kept.
        """
        known = self._remembered.get(id(value))
        if known is not None:
            return known[0]
        if value.constant or value.items is not None or value.element is not None or value.sources:
            return self._by_text(value, places, function)
        # Equal values of these fields are the same; of constants, 1 and True are equal.
        number = self._plain.get(value)
        if number is None:
            number = self._plain[value] = self._numbered(_dumps(_said(value, None, -1)))
        self._remember(value, number)
        return number

    def _by_text(self, value: Value, places: Places, function: int) -> int:
        number = self._numbered(_dumps(_said(value, places, function)))
        if not _has_sources(value):
            self._remember(value, number)
        return number

    def _remember(self, value: Value, number: int) -> None:
        if len(self._remembered) > _MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[id(value)] = (number, value)

    def _numbered(self, text: str) -> int:
        found = self._texts.get(text)
        if found is None:
            found = self._texts[text] = len(self.values)
            self.values.append(text)
        return found

    def decoded(self, number: int, places: Places, function: int) -> Value:
        """Return the value with a number. Raises `UnsaidError` for a place that was not met yet."""
        return _value(json.loads(self.values[number]), places, function)


def _has_sources(value: Value) -> bool:
    if value.sources:
        return True
    inner = value.element
    return any(map(_has_sources, value.items or ())) or (inner is not None and _has_sources(inner))


def _said(value: Value, places: Places | None, function: int) -> list[object]:
    """Return a value as JSON values."""
    for one in value.constant:
        if not isinstance(one, _PLAIN) and not (type(one) is int and abs(one) < _LARGEST):
            raise UnsaidError
        if isinstance(one, float) and one - one != 0:
            raise UnsaidError
    if any(ref.at < 0 and ref.role is not Role.PACKAGE for ref in value.refs):
        raise UnsaidError
    flags = value.varies + 2 * value.weak + 4 * value.optional + 8 * value.mixed + 16 * value.pinned
    said: list[object] = [_KIND_AT[value.kind], value.dtype, value.rank, flags, value.name]
    said.append([[int(role), at, owner] for role, at, owner in value.refs])
    if value.constant or value.items is not None or value.element is not None or value.sources:
        said.append(list(value.constant))
        items = value.items
        said.append(None if items is None else [_said(one, places, function) for one in items])
        said.append(None if value.element is None else _said(value.element, places, function))
        said.append([coded_source(one, places, function) for one in value.sources])
    return said


def coded_source(source: Source, places: Places | None, function: int) -> list[int]:
    """Return a source as numbers; one in `function` itself by the number of its place."""
    if source.function == function and places is not None:
        return [_MARK_AT[source.mark], places.span(source.span)]
    return [_MARK_AT[source.mark], source.function, *source.span]


def mark_number(mark: Mark | None) -> int:
    """Return the number of a mark, -1 for None."""
    return -1 if mark is None else _MARK_AT[mark]


def mark_of(number: int) -> Mark:
    """Return the mark with a number."""
    return _MARKS[number]


def _value(said: Any, places: Places, function: int) -> Value:
    kind, dtype, rank, flags, name, refs, *more = said
    constant, items, element, sources = more or ((), None, None, ())
    return Value(
        _KINDS[kind],
        dtype,
        rank,
        tuple(constant),
        name,
        tuple(Ref(Role(role), at, owner) for role, at, owner in refs),
        None if items is None else tuple(_value(one, places, function) for one in items),
        None if element is None else _value(element, places, function),
        Pinned(flags >> 4),
        bool(flags & 1),
        bool(flags & 2),
        bool(flags & 4),
        tuple(_source(one, places, function) for one in sources),
        bool(flags & 8),
    )


def _source(said: Any, places: Places, function: int) -> Source:
    mark, *place = said
    if len(place) > 1:
        return Source(_MARKS[mark], place[0], tuple(place[1:]))
    if place[0] >= len(places.spans):
        raise UnsaidError
    return Source(_MARKS[mark], function, places.spans[place[0]])
