"""What is recommended for the shipped histograms, and at the edges of traffic, sizes and limits."""

from __future__ import annotations

import random
import time
from dataclasses import replace

import pytest

from capturelint.bundle import bundled
from capturelint.measure.advice import MOST_RUNGS, Advice, NothingToCaptureError, advise
from capturelint.measure.curves import Curve
from capturelint.measure.ladder import Limits, ladder
from capturelint.measure.times import Costs, assumed_costs
from capturelint.measure.traffic import Traffic, read_traffic

# Made up: no device was asked. What capturing costs grows with the size.
_COSTS = replace(
    assumed_costs(),
    capture=Curve((1, 64, 512), (40.0, 55.0, 120.0)),
    memory=Curve((1, 64, 512), (2.0, 2.5, 6.0)),
    pool=Curve((1, 512), (4.0, 300.0)),
)


def shipped(name: str) -> Traffic:
    return read_traffic(bundled("fixtures") / "traffic" / f"{name}.csv")


def advice(
    traffic: Traffic,
    largest: int | None = None,
    rows: int = 1,
    limits: Limits | None = None,
    costs: Costs = _COSTS,
) -> Advice:
    return advise(
        traffic,
        costs,
        largest=largest,
        rows_per_request=rows,
        limits=Limits() if limits is None else limits,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "largest", "rows"), [("chat", 256, 1), ("chat", 256, 4), ("offline", 512, 1)]
)
def test_no_customary_ladder_is_faster_on_the_same_budget(
    name: str, largest: int, rows: int
) -> None:
    traffic = shipped(name)
    saved = 0.0

    for one in advice(traffic, largest, rows).customary:
        budgets = (
            Limits(rungs=len(one.ladder.sizes)),
            Limits(startup=one.ladder.startup, memory=one.ladder.memory),
        )
        for limits in budgets:
            found = advice(traffic, largest, rows, limits)
            assert found.best.step <= one.ladder.step
            assert limits.allow(found.best)
            assert found.gap < 0.005
            saved = max(saved, 1 - found.best.step / one.ladder.step)

    assert saved > 0.04  # against powers of two


@pytest.mark.parametrize(("name", "largest"), [("chat", 256), ("offline", 512)])
def test_without_limits_one_graph_less_would_be_slower_than_custom(name: str, largest: int) -> None:
    traffic = shipped(name)
    found = advice(traffic, largest)
    fastest = min(one.ladder.step for one in found.customary)
    fewer = advice(traffic, largest, limits=Limits(rungs=len(found.best.sizes) - 1))

    assert found.best.step <= fastest < fewer.best.step


def test_enough_is_the_fewest_graphs_that_are_no_slower() -> None:
    traffic = shipped("chat")

    for one in advice(traffic, 256).customary:
        assert one.enough is not None
        found = advice(traffic, 256, limits=Limits(rungs=one.enough))
        fewer = advice(traffic, 256, limits=Limits(rungs=one.enough - 1))
        assert found.best.step <= one.ladder.step < fewer.best.step


def test_drops_say_what_the_ladder_without_them_costs() -> None:
    traffic = shipped("offline")
    found = advice(traffic, 512, limits=Limits(rungs=6))

    assert [drop.slower for drop in found.drops] == sorted(drop.slower for drop in found.drops)
    for drop in found.drops:
        rest = ladder([size for size in found.best.sizes if size != drop.size], traffic, _COSTS)
        assert found.best.step * (1 + drop.slower) == pytest.approx(rest.step)
        assert rest.startup is not None and rest.memory is not None
        assert found.best.startup == pytest.approx(rest.startup + (drop.startup or 0))
        assert found.best.memory == pytest.approx(rest.memory + (drop.memory or 0))


def test_one_size_is_captured_alone() -> None:
    found = advice(Traffic(((24, 5),)))

    assert found.best.sizes == (24,)
    assert found.largest == 24
    assert (found.best.padded, found.best.eager) == (0, 0)


def test_steps_above_the_largest_run_eagerly_in_every_ladder() -> None:
    found = advice(Traffic(((2, 3), (8, 1))), 4)

    assert found.best.sizes == (2,)
    assert found.above == 0.25
    assert {one.ladder.eager for one in found.customary} == {0.25}


def test_sizes_are_rounded_up_to_whole_requests_and_the_largest_down() -> None:
    found = advice(Traffic(((1, 1), (5, 2), (8, 1))), 11, 4)

    assert found.largest == 8
    assert found.best.sizes == (4, 8)
    assert found.rounded == 0.75
    assert advice(Traffic(((5, 2),)), None, 4).largest == 8


@pytest.mark.parametrize(
    ("traffic", "largest", "rows", "message"),
    [
        (((9, 1),), 8, 1, "no step has 8 rows or fewer; the smallest has 9; raise --max"),
        (((5, 1),), 7, 4, "no step has 4 rows or fewer; the smallest has 5; raise --max"),
        (((5, 1),), 3, 4, "no request of 4 rows fits; raise --max"),
    ],
)
def test_where_no_step_fits_that_is_said(
    traffic: tuple[tuple[int, int], ...], largest: int, rows: int, message: str
) -> None:
    with pytest.raises(NothingToCaptureError) as caught:
        advice(Traffic(traffic), largest, rows)

    assert str(caught.value) == message


def test_nothing_is_captured_where_nothing_fits_or_helps() -> None:
    traffic = Traffic(((1, 9), (4, 1)))
    slow_graphs = Costs(eager=Curve((1,), (1.0,)), graph=Curve((1,), (2.0,)))

    assert advice(traffic, limits=Limits(memory=1)).best.sizes == ()
    assert advice(traffic, costs=slow_graphs).best.sizes == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "limits",
    [
        Limits(),
        Limits(rungs=24),
        Limits(rungs=200),
        Limits(startup=6, memory=500),
        Limits(40, 9, 800),
    ],
)
def test_a_huge_histogram_takes_no_long_time(limits: Limits) -> None:
    drawn = random.Random(3)
    counts: dict[int, float] = {}
    for _ in range(100_000):
        size = 1 + int(8192 * drawn.random())
        counts[size] = counts.get(size, 0) + 1
    started = time.process_time()

    found = advice(Traffic(tuple(sorted(counts.items()))), 8192, limits=limits)

    # Quadratic work would take minutes; a busy machine is no reason to fail.
    assert time.process_time() - started < 20
    assert limits.allow(found.best)
    assert 0 < len(found.best.sizes) <= (limits.rungs or MOST_RUNGS)
    assert found.gap < 0.01
