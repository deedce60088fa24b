"""The ladder as text: its table with what is known, and the notes that go with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from capturelint.measure.advice import Advice, advise
from capturelint.measure.curves import Curve
from capturelint.measure.ladder import Limits
from capturelint.measure.times import Costs, assumed_costs
from capturelint.measure.traffic import Traffic
from capturelint.report.ladder_notes import notes, percent
from capturelint.report.ladder_text import render

_TRAFFIC = Traffic(((1, 50), (2, 30), (5, 15), (8, 5)), idle=3)
_COSTS = Costs(
    eager=Curve((1, 8), (20.0, 20.0)),
    graph=Curve((1, 8), (1.0, 4.5)),
    capture=Curve((1, 8), (100.0, 100.0)),
    memory=Curve((1, 8), (2.0, 2.0)),
    pool=Curve((1, 8), (10.0, 24.0)),
    largest=8,
    environment=(("device", "made up"), ("torch", "2.11")),
)

_REPORT = """\
steps.csv: 100 steps of 1 to 8 rows, 3 idle ones left out; sizes up to 8
times are measured, linear between measured sizes (device made up, torch 2.11)

ladder         graphs  step ms    slower  pad rows  eager steps  MiB  start-up s  never used
recommended         2      2.1              29.7 %        0.0 %   28         0.2
powers of two       4     1.85  -11.90 %    16.7 %        0.0 %   32         0.4           1  over the limits, as fast with 3
vLLM 0.33           4     1.85  -11.90 %    16.7 %        0.0 %   32         0.4           1  over the limits, as fast with 3
SGLang 0.5.23       4     1.85  -11.90 %    16.7 %        0.0 %   32         0.4           1  over the limits, as fast with 3
every size          4    1.625  -22.62 %     0.0 %        0.0 %   32         0.4              over the limits

vLLM:   --cudagraph-capture-sizes 2 8
SGLang: --cuda-graph-bs-decode 2 8

best ladders by number of graphs:
graphs  step ms  slower than every size  MiB  start-up s  sizes
     1     3.85               +136.92 %   20         0.1  5
     2      2.1                +29.23 %   28         0.2  2 8
     3     1.85                +13.85 %   30         0.3  1 2 8
     4    1.625                 +0.00 %   32         0.4  1 2 5 8

cheapest to drop: 2 (steps 114 % slower, saves 2 MiB and 0.1 s); 8 (steps 148 % slower, saves 14 MiB and 0.1 s)

note: within 2 graphs no ladder is faster than the recommended one
"""


def advice(
    costs: Costs = _COSTS, largest: int | None = None, rows: int = 1, limits: Limits | None = None
) -> Advice:
    return advise(
        _TRAFFIC, costs, largest=largest, rows_per_request=rows, limits=limits or Limits(rungs=2)
    )


def test_the_whole_report() -> None:
    assert render(advice(), source="steps.csv") + "\n" == _REPORT


def test_rows_of_a_request_are_told_and_counted_by_the_engine() -> None:
    text = render(advice(rows=2, largest=8), source="steps.csv")

    assert "sizes up to 8, multiples of 2" in text
    assert "vLLM:   --cudagraph-capture-sizes 2 8" in text
    assert "SGLang: --cuda-graph-bs-decode 1 4" in text


def test_of_a_ladder_that_is_the_best_of_its_number_nothing_is_told() -> None:
    one = advise(
        Traffic(((1, 5),)), _COSTS, largest=None, rows_per_request=1, limits=Limits(rungs=1)
    )

    assert [custom.enough for custom in one.customary] == [1, 1, 1]
    assert "as fast" not in render(one, source="steps.csv")
    assert "cheapest to drop" not in render(one, source="steps.csv")


def test_colour_is_only_where_it_is_asked_for() -> None:
    assert "\x1b" not in render(advice(), source="steps.csv")
    assert render(advice(), source="steps.csv", color=True).startswith("\x1b[1msteps.csv")


@pytest.mark.parametrize(
    ("found", "note"),
    [
        (advice(), "within 2 graphs no ladder is faster than the recommended one"),
        (
            advice(limits=Limits(rungs=1)),
            "within 1 graph no ladder is faster than the recommended one",
        ),
        (
            advice(limits=Limits(startup=0.25, memory=99)),
            "within 0.25 s of start-up and 99 MiB no ladder is faster than the recommended one",
        ),
        (
            replace(advice(), gap=0.00123),
            "within 2 graphs no ladder is faster than the recommended one by more than 0.12 %",
        ),
        (
            advice(limits=Limits(), costs=_COSTS, largest=8),
            "recommended are the fewest graphs with which no other ladder up to this size is faster",
        ),
        (
            advice(largest=16),
            "steps of 9 to 16 rows run eagerly (0 % here); capture 16 too if more of them may come",
        ),
        (
            advice(largest=6),
            "5 % of steps have more than 6 rows and run eagerly in every ladder",
        ),
        (
            advice(rows=2),
            "65 % of steps do not fill whole requests of 2 rows; graphs run them rounded up",
        ),
        (
            advice(costs=assumed_costs(), largest=600),
            "left alone, vLLM captures no more than 512 rows (1024 on B200); here its pattern goes on",
        ),
        (
            advice(costs=replace(_COSTS, largest=4)),
            "nothing above 4 rows was measured; there figures are extended in a straight line",
        ),
        (
            advice(costs=replace(_COSTS, levelled=(("mib", (2, 3, 4, 5, 6, 7, 8)),))),
            "`mib` was averaged at 2, 3, 4, 5, 6, 7, ..., as a larger size was measured as cheaper",
        ),
    ],
)
def test_what_must_be_known_is_noted(found: Advice, note: str) -> None:
    assert note in notes(found)


def test_nothing_is_noted_that_does_not_apply() -> None:
    assert len(notes(advice())) == 1


def test_shares_are_told_with_two_digits_and_never_with_an_exponent() -> None:
    shares = (0, 0.000123, 0.0099, 0.0949, 0.0951, 0.5, 1, 1.5)

    told = ["0", "0.012", "0.99", "9.5", "10", "50", "100", "150"]
    assert [percent(share) for share in shares] == [f"{number} %" for number in told]
