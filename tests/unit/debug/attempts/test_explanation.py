"""Which change of state a frozen value is joined with, and which line is blamed."""

from __future__ import annotations

import pytest

from capturelint.debug.attempts.explanation import Cause, explained, is_number, joined, with_cause
from capturelint.debug.states.differences import Change
from capturelint.verdict import Certainty, Frozen, Place

_USE = Place("model.py", 9, "Model.forward", "return x * self.step + offset")


def _frozen(before: str = "4", after: str = "5", place: Place = _USE) -> Frozen:
    return Frozen(place, "aten.mul.Tensor", before, after)


def _cause(
    name: str,
    values: tuple[str, str] = ("", ""),
    *,
    line: int = 3,
    function: str = "Other.forward",
    kind: str = "number",
) -> Cause:
    place = Place("model.py", line, function, f"self.{name} += 1")
    return Cause(Change(name, kind, *values), place)


@pytest.mark.parametrize(
    ("cause", "name"),
    [
        (_cause("count", ("4", "5")), "self.count"),  # has the values
        (_cause("inner.step", ("1", "9")), "self.step"),  # is named in the line
        (_cause("global offset", kind="rebound"), "global offset"),
        (_cause("random", line=9, kind="host random numbers"), "random"),  # is made on the line
    ],
)
def test_a_cause_that_the_value_or_its_line_tells_is_sure(cause: Cause, name: str) -> None:
    found = joined(_frozen(), [_cause("unused", ("1", "2")), cause])

    assert (found.is_sure, found.frozen.name, found.frozen.cause) == (True, name, cause.place)


def test_a_cause_in_the_same_function_is_likely() -> None:
    cause = _cause("count", function="Model.forward")
    found = joined(_frozen(), [_cause("unused"), cause])

    assert (found.is_sure, found.frozen.cause) == (False, cause.place)


@pytest.mark.parametrize(
    "causes",
    [
        [_cause("count")],
        [_cause("steps"), _cause("misstep")],
        [_cause("one", ("4", "5")), _cause("two", ("4", "5"), line=4)],
        [],
    ],
)
def test_a_cause_that_does_not_stand_out_is_not_joined(causes: list[Cause]) -> None:
    assert joined(_frozen(), causes).frozen == _frozen()


def test_of_two_causes_on_one_line_that_line_is_the_cause() -> None:
    causes = [_cause("offset", kind="rebound"), _cause("step", kind="rebound")]

    assert joined(_frozen(), causes).frozen.cause == causes[0].place


def test_what_changes_before_and_after_a_call_is_one_change() -> None:
    causes = [_cause("count", ("3", "4")), _cause("count", ("4", "5"))]

    found = explained([joined(_frozen(), causes)], causes, None)

    assert found.changes == ("count: 4 -> 5 (number)",)
    assert [place.line for place in found.places] == [3, 9]
    assert found.certainty is Certainty.SHOWN


def test_what_is_known_best_is_blamed() -> None:
    other = Place("model.py", 20, "Model.forward", "y = y + w")
    unknown = joined(_frozen("tensor of shape (2,)", "another tensor of shape (2,)", other), [])
    number = joined(_frozen("1", "2", other), [])
    sure = with_cause(_frozen(), _cause("step"), is_sure=True)
    likely = with_cause(_frozen(), _cause("count", line=4), is_sure=False)

    def blamed(*found: object) -> tuple[list[int], Certainty]:
        why = explained(list(found), [], None)  # type: ignore[arg-type]  # a shorter signature
        return [place.line for place in why.places], why.certainty

    assert blamed(unknown) == ([20], Certainty.LIKELY)
    assert blamed(unknown, likely) == ([4, 9], Certainty.LIKELY)
    assert blamed(likely, number) == ([20], Certainty.SHOWN)
    assert blamed(number, sure) == ([3, 9], Certainty.SHOWN)


def test_of_changes_alone_the_one_that_was_returned_is_blamed() -> None:
    causes = [_cause("unused", ("1", "2"), line=2), _cause("step", ("4", "5"), line=3)]

    def blamed(returned: tuple[str, str] | None) -> list[int]:
        return [place.line for place in explained([], causes, returned).places]

    assert blamed(("4", "5")) == [3]
    assert blamed(None) == [2, 3]
    assert explained([], [], None).certainty is Certainty.MODULE_ONLY


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("4", True),
        ("-0.25", True),
        ("1e-05", True),
        ("(1+2j)", True),
        ("nan", True),
        ("True", True),
        ("0x7f00", True),
        ("host tensor [1.0]", True),
        ("4 arguments", False),
        ("12 operations", False),
        ("aten.mul.Tensor", False),
        ("tensor of shape (2,)", False),
    ],
)
def test_numbers_are_told_from_memory_and_operations(text: str, is_one: bool) -> None:
    assert is_number(_frozen(text)) is is_one
