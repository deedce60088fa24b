"""Which values a graph that kept another one can be called with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from capturelint.measure.graphs.same import is_same


class Flags:
    """Without attributes one is as good as another."""


class Scale:
    def __init__(self, by: float) -> None:
        self.by = by


class Unequal:
    def __eq__(self, other: object) -> bool:
        raise ValueError("no answer")

    __hash__ = object.__hash__


def times(by: float) -> Callable[[float], float]:
    return lambda x: x * by


def plain() -> Callable[[float], float]:
    return lambda x: x


def with_default(by: float) -> Callable[[float], float]:
    def scaled(x: float, by: float = by) -> float:
        return x * by

    return scaled


@pytest.mark.parametrize(
    ("captured", "given"),
    [
        (Scale(2), Scale(2)),
        (float("nan"), float("nan")),
        ({1, 2}, {2, 1}),
        ([1000, [2000]], [int("1000"), [int("2000")]]),
        (Flags(), Flags()),
        (plain(), plain()),
        (len, len),
    ],
)
def test_what_computes_the_same_is_the_same(captured: object, given: object) -> None:
    assert is_same(captured, given)


@pytest.mark.parametrize(
    ("captured", "given"),
    [
        (Scale(2), Scale(3)),
        (1.0, float("nan")),
        (1, True),
        (1, 1.0),
        ({1, 2}, {1, 3}),
        ([1, 2], [1, 2, 3]),
        (Flags(), Scale(2)),
        (times(2), times(2)),
        (with_default(2), with_default(3)),
        (iter([1]), iter([1])),
        (None, 0),
        (Unequal(), Unequal()),
    ],
)
def test_what_may_compute_otherwise_is_another(captured: object, given: object) -> None:
    assert not is_same(captured, given)


def test_arrays_are_the_same_by_what_they_hold() -> None:
    numpy = pytest.importorskip("numpy", reason="about numpy arrays")

    assert is_same(numpy.array([1.0, numpy.nan]), numpy.array([1.0, numpy.nan]))
    assert not is_same(numpy.ones(3), numpy.zeros(3))
    assert not is_same([numpy.ones(3)], [numpy.ones(4)])
