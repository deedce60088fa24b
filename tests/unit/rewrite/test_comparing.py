"""Which type compares a tensor exactly as the number that was read from it."""

from __future__ import annotations

import pytest

from capturelint.rewrite.comparing import Held, Side, conversion
from capturelint.rewrite.literals import Number


def _tensor(*kinds: str) -> Side:
    return Side(Held.TENSOR, frozenset(kinds))


def _read(*kinds: str) -> Side:
    return Side(Held.READ, frozenset(kinds))


def _number(*kinds: str) -> Side:
    return Side(Held.NUMBER, frozenset(kinds))


def _written(value: Number) -> Side:
    return Side(Held.NUMBER, frozenset({type(value).__name__}), value)


@pytest.mark.parametrize(
    ("kind", "other", "wanted"),
    [
        ("float32", _written(0.3), ".double()"),
        ("float32", _written(2**53), ".double()"),
        ("float32", _written(2**53 + 1), None),
        ("float32", _number("float", "int"), ".double()"),
        ("float32", _number("none"), None),
        ("float32", _number(), None),
        ("float32", _tensor("float32"), ".double()"),
        ("float64", _tensor("float32"), None),
        ("float32", _tensor("int64"), None),
        ("float32", _read("float64"), ".double()"),
        ("float64", _read("int32"), ".double()"),
        ("float64", _read("int64"), None),
        ("int64", _written(5), ""),
        ("int64", _written(0.5), ".double()"),
        ("int64", _written(float(2**53)), None),
        ("int64", _written(float("inf")), ".double()"),
        ("int64", _number("float"), None),
        ("int64", _number("int"), ""),
        ("int64", _tensor("int64"), ""),
        ("int64", _tensor("int32"), None),
        ("int64", _read("float64"), None),
        ("int64", _read("int32"), ".long()"),
        ("int32", _tensor("int8"), None),
        ("int32", _read("float64"), ".double()"),
        ("int32", _number("float"), ".double()"),
        ("int8", _written(127), ""),
        ("int8", _written(128), ".long()"),
        ("int8", _written(-128), ""),
        ("uint8", _written(-1), ".long()"),
        ("int8", _number("int"), ".long()"),
        ("bool", _written(1), None),
    ],
)
def test_a_read_is_compared_exactly_or_not_at_all(
    kind: str, other: Side, wanted: str | None
) -> None:
    assert conversion(_read(kind), other) == wanted
