"""Calls of many shapes, as in prefill: how many there are, and what a graph for each would cost.

The file is JSON, an object of counts by shape (`{"4x512": 3}`) or a list of shapes, or text with a
shape, or a shape and a count, per line. A shape is numbers joined by `x`.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from capturelint.errors import CapturelintError, shown, shown_path
from capturelint.measure.given import text_in
from capturelint.measure.times import Costs

Shape: TypeAlias = tuple[int, ...]
_SHAPE = re.compile(r"[0-9]{1,9}([x*][0-9]{1,9})*")
_COUNT = re.compile(r"[0-9]{1,15}")


class BadShapesError(CapturelintError):
    """A file of shapes cannot be read. `line`: from 1, None where none is to blame."""

    def __init__(self, path: Path, problem: str, *, line: int | None = None) -> None:
        place = shown_path(path) if line is None else f"{shown_path(path)}:{line}"
        super().__init__(f"{place}: {problem}")


@dataclass(frozen=True, slots=True)
class Shapes:
    """How often each shape runs, the most frequent first."""

    counts: tuple[tuple[Shape, int], ...]

    @property
    def steps(self) -> int:
        """Return how many calls there are."""
        return sum(count for _, count in self.counts)

    def covered(self, graphs: int) -> float:
        """Return the share of calls that the most frequent shapes are, so many of them."""
        return sum(count for _, count in self.counts[:graphs]) / self.steps

    def rounded(self) -> Shapes:
        """Return the same with each number rounded up to a power of two."""
        found: Counter[Shape] = Counter()
        for shape, count in self.counts:
            found[tuple(1 << (extent - 1).bit_length() for extent in shape)] += count
        return _ordered(found)

    @property
    def elements(self) -> int:
        """Return the elements of all calls together."""
        return sum(math.prod(shape) * count for shape, count in self.counts)


@dataclass(frozen=True, slots=True)
class Price:
    """What a graph for each shape costs: seconds to capture and MiB; None where it is not known."""

    seconds: float | None
    mib: float | None


def price(shapes: Shapes, costs: Costs | None) -> Price:
    """Return what a graph for each shape costs, by the elements of each, as measured by size."""
    if costs is None:
        return Price(None, None)
    sizes = [math.prod(shape) for shape, _ in shapes.counts]
    seconds = None
    if costs.capture is not None:
        seconds = math.fsum(costs.capture.at(size) for size in sizes) / 1000
    if costs.memory is None:
        return Price(seconds, None)
    pool = 0.0 if costs.pool is None else costs.pool.at(max(sizes))
    return Price(seconds, math.fsum(costs.memory.at(size) for size in sizes) + pool)


def read_shapes(path: Path) -> Shapes:
    """Return the shapes that a file says. Raises `BadShapesError`."""
    text = text_in(path, BadShapesError)
    found: Counter[Shape] = Counter()
    is_json = text.lstrip()[:1] in ("{", "[")
    for shape, count in _from_json(path, text) if is_json else _from_lines(path, text):
        found[shape] += count
    if not +found:
        raise BadShapesError(path, "holds no shapes; give one per line, such as 4x512")
    return _ordered(+found)


def _ordered(found: Counter[Shape]) -> Shapes:
    return Shapes(tuple(sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))))


def _from_lines(path: Path, text: str) -> Iterator[tuple[Shape, int]]:
    for number, line in enumerate(text.splitlines(), start=1):
        words = re.split(r"[\s,;]+", line.strip())
        if words == [""] or words[0].startswith("#"):
            continue
        if len(words) > 2:
            raise BadShapesError(
                path, f"{shown(line)} is more than a shape and a count", line=number
            )
        count = words[1] if len(words) == 2 else "1"
        yield _shape(path, words[0], number), _count(path, count, number)


def _from_json(path: Path, text: str) -> Iterator[tuple[Shape, int]]:
    try:
        # As pairs: a shape that is there twice counts twice.
        document = json.loads(text, object_pairs_hook=tuple)
    except json.JSONDecodeError as error:
        raise BadShapesError(path, f"is not JSON: {error.msg}", line=error.lineno) from error
    except RecursionError as error:
        raise BadShapesError(path, "is nested too deeply; give a flat list or object") from error
    pairs = document if isinstance(document, tuple) else ((one, 1) for one in document)
    for shape, count in pairs:
        told = "x".join(map(str, shape)) if isinstance(shape, list) else str(shape)
        yield _shape(path, told), _count(path, str(count))


def _shape(path: Path, text: str, line: int | None = None) -> Shape:
    numbers = tuple(int(one) for one in re.split("[x*]", text)) if _SHAPE.fullmatch(text) else ()
    if not numbers or 0 in numbers:
        raise BadShapesError(path, f"{shown(text)} is no shape; write one as 4x512", line=line)
    return numbers


def _count(path: Path, text: str, line: int | None = None) -> int:
    if not _COUNT.fullmatch(text):
        raise BadShapesError(path, f"the count {shown(text)} is not a whole number", line=line)
    return int(text)
