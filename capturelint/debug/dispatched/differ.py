"""What a graph would bake in: the first differences between the launches of two calls in a row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from capturelint.debug.dispatched.launches import HostValue, Launch, Launches, Memory
from capturelint.verdict import Frozen


def frozen_values(first: Launches, second: Launches) -> tuple[Frozen, ...]:
    """Return what differs, in order of use, each line once.

    Both calls must be given the same input tensors. Once the calls run different operations,
    nothing after that can be compared.
    """
    found: dict[tuple[str, int], Frozen] = {}
    for frozen in _differences(first.items, second.items):
        found.setdefault((frozen.place.path, frozen.place.line), frozen)
    return tuple(found.values())


def _differences(first: list[Launch], second: list[Launch]) -> Iterator[Frozen]:
    for number, (before, after) in enumerate(zip(first, second, strict=False)):
        if before.operation != after.operation:
            place = before.place if _is_among(after, first[number + 1 :]) else after.place
            yield Frozen(place, after.operation, before.operation, after.operation)
            return
        yield from _changed_arguments(before, after)
        if before.shapes != after.shapes:
            return
    if len(first) != len(second):
        longer = max(first, second, key=len)
        extra = longer[min(len(first), len(second))]
        counts = (f"{len(first)} operations", f"{len(second)} operations")
        yield Frozen(extra.place, extra.operation, counts[0], counts[1])


def _is_among(launch: Launch, others: list[Launch]) -> bool:
    """Return whether one of `others` is the same operation on the same line."""
    line = (launch.operation, launch.place.path, launch.place.line)
    return any(line == (one.operation, one.place.path, one.place.line) for one in others)


def _changed_arguments(before: Launch, after: Launch) -> Iterator[Frozen]:
    if len(before.arguments) != len(after.arguments):
        was, is_ = (f"{len(launch.arguments)} arguments" for launch in (before, after))
        yield Frozen(after.place, after.operation, was, is_)
        return
    for was, is_ in zip(before.arguments, after.arguments, strict=True):
        if not _equal(was, is_):
            yield Frozen(after.place, after.operation, *_in_words(was, is_))
            return


def _equal(first: Any, second: Any) -> bool:
    # NaN is the same number to a graph.
    return type(first) is type(second) and (first == second or repr(first) == repr(second))


def _in_words(was: Any, is_: Any) -> tuple[str, str]:
    if isinstance(was, Memory) and isinstance(is_, Memory):
        if was.shape != is_.shape or was.dtype != is_.dtype:
            return _shape(was), _shape(is_)
        if (was.origin, was.number) == (is_.origin, is_.number):
            return f"{_shape(was)} at offset {was.offset}", f"{_shape(is_)} at offset {is_.offset}"
        return _shape(was), f"another {_shape(is_)}"
    return _text(was), _text(is_)


def _text(value: Any) -> str:
    if isinstance(value, HostValue):
        numbers = value.numbers
        return repr(numbers[0]) if len(numbers) == 1 else f"host tensor {list(numbers)}"
    return _shape(value) if isinstance(value, Memory) else repr(value)


def _shape(memory: Memory) -> str:
    return f"tensor of shape {memory.shape}"
