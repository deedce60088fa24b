"""What was noted of the expressions of one function, in a seventh of the room of a dictionary."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import chain

from capturelint.kind import Value
from capturelint.lint.values.kept import RawSpan


class Packed:
    """Values by the spans of expressions, to be unpacked where they are asked for again."""

    __slots__ = ("_spans", "_values")

    def __init__(self, values: Mapping[RawSpan, Value]) -> None:
        self._spans = array("i", chain.from_iterable(values))
        self._values = tuple(values.values())

    def unpacked(self) -> dict[RawSpan, Value]:
        """Return the values by span, in the order in which they were given."""
        numbers = iter(self._spans)
        return dict(
            zip(zip(numbers, numbers, numbers, numbers, strict=True), self._values, strict=True)
        )
