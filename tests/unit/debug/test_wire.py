"""Facts survive JSON; what is not exactly a fact is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capturelint.debug.outcome import Outcome
from capturelint.debug.settings import Settings
from capturelint.debug.wire import WireError, decode, encode
from capturelint.verdict import Certainty, Evidence, Place, Report, Verdict


class Color(Enum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    color: Color
    corners: tuple[Point, ...]
    size: tuple[int, bool]
    notes: Mapping[str, Point]


SHAPE = Shape(Color.RED, (Point(1.5, "a"), Point(2.0)), (3, True), {"b": Point(0.0)})
JSON = {
    "color": "red",
    "corners": [{"x": 1.5, "name": "a"}, {"x": 2.0, "name": None}],
    "size": [3, True],
    "notes": {"b": {"x": 0.0, "name": None}},
}


def through_json(value: object) -> object:
    return json.loads(json.dumps(encode(value), allow_nan=False))


def test_a_fact_is_readable_json() -> None:
    assert encode(SHAPE) == JSON
    assert decode(Shape, JSON) == SHAPE


# What is sent is compared: nan equals nothing, and a mapping may come back as another kind.
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.from_type(Report))
def test_every_report_survives(report: Report) -> None:
    assert encode(decode(Report, through_json(report))) == encode(report)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.from_type(Outcome))
def test_every_outcome_survives(outcome: Outcome) -> None:
    assert repr(decode(Outcome, through_json(outcome))) == repr(outcome)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.from_type(Settings))
def test_all_settings_survive(chosen: Settings) -> None:
    assert repr(decode(Settings, through_json(chosen))) == repr(chosen)


@pytest.mark.parametrize("number", [math.inf, -math.inf])
def test_infinite_numbers_survive(number: float) -> None:
    assert decode(Point, through_json(Point(number))) == Point(number)


def test_a_number_that_is_none_survives() -> None:
    assert math.isnan(decode(Point, through_json(Point(math.nan))).x)


def test_undecodable_bytes_of_a_path_survive() -> None:
    place = Place("/models/\udcff.py", 1)

    assert decode(Place, through_json(place)) == place


def test_a_whole_number_may_stand_for_a_fraction() -> None:
    point = decode(Point, {"x": 1, "name": None})

    assert (point, type(point.x)) == (Point(1.0), float)


@pytest.mark.parametrize(
    "change",
    [
        {"color": "blue"},
        {"color": None},
        {"color": ["red"]},
        {"corners": {"x": 1.5, "name": "a"}},
        {"corners": [{"x": "1.5", "name": "a"}]},
        {"corners": [{"x": 1.5, "name": 7}]},
        {"corners": [{"x": True, "name": None}]},
        {"corners": [{"x": 1.5}]},
        {"corners": [{"x": 1.5, "name": None, "y": 0}]},
        {"corners": [None]},
        {"size": [3]},
        {"size": [3, True, 4]},
        {"size": [3, 1]},
        {"size": [True, True]},
        {"size": [3.0, True]},
        {"notes": []},
        {"notes": {"b": None}},
    ],
)
def test_what_does_not_fit_is_refused(change: Mapping[str, object]) -> None:
    with pytest.raises(WireError):
        decode(Shape, {**JSON, **change})


@pytest.mark.parametrize("value", [None, [], "Shape", 3, {}])
def test_what_is_no_object_is_no_fact(value: object) -> None:
    with pytest.raises(WireError):
        decode(Shape, value)


@pytest.mark.parametrize("value", [object(), {1: 2}, [1], {1, 2}, b"x", Point])
def test_what_is_no_fact_is_not_sent(value: object) -> None:
    with pytest.raises(TypeError, match="cannot send"):
        encode(value)


def test_the_error_names_what_was_wanted_and_shows_the_start_of_what_came() -> None:
    with pytest.raises(WireError) as caught:
        decode(Verdict, "x" * 1000)

    assert str(caught.value) == f"not a Verdict: {'x' * 80!r}"


def test_defaults_are_sent_too() -> None:
    outcome = Outcome(Verdict.EQUAL, certainty=Certainty.LIKELY)

    assert encode(outcome)["evidence"] == encode(Evidence())
