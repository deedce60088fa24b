"""Written numbers and the ranges that lists of them are."""

from __future__ import annotations

import libcst as cst
import pytest

from capturelint.rewrite.literals import Number, arguments_of, number, numbers, progression


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1_000", 1000),
        ("-0.5", -0.5),
        ("+2", 2),
        ("True", True),
        ("float('inf')", float("inf")),
        ('float("-inf")', float("-inf")),
    ],
)
def test_a_written_number_has_its_value_and_type(text: str, value: Number) -> None:
    got = number(cst.parse_expression(text))

    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize(
    "text",
    [
        "n",
        "1 + 1",
        "-True",
        "'1'",
        "float(x)",
        "float('1')",
        "1j",
        "1e39",
        "2**4",
        str(2**53 + 1),
        "-9007199254740993",
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert number(cst.parse_expression(text)) is None


def test_a_list_with_anything_else_in_it_is_no_list_of_numbers() -> None:
    assert numbers(cst.parse_expression("[1, *rest]")) is None
    assert numbers(cst.parse_expression("[1, n]")) is None
    assert numbers(cst.parse_expression("{1, 2}")) is None


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([0, 1, 2], "3"),
        ([2, 3], "2, 4"),
        ([5, 3, 1], "5, 0, -2"),
        ([0, -1], "0, -2, -1"),
        ([-2, -1], "-2, 0"),
    ],
)
def test_integers_in_even_steps_are_a_range(items: list[int], text: str) -> None:
    found = progression(items)

    assert found is not None
    assert list(found) == items
    assert arguments_of(found) == text


@pytest.mark.parametrize("items", [[], [1], [1, 1], [0, 1, 3], [0, True], [0, 1.0], [0.0, 1.0]])
def test_others_are_no_range(items: list[Number]) -> None:
    assert progression(items) is None
