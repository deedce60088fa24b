"""What a given ladder costs, counted by hand."""

from __future__ import annotations

from capturelint.measure.curves import Curve
from capturelint.measure.ladder import Ladder, Limits, ladder
from capturelint.measure.times import Costs
from capturelint.measure.traffic import Traffic

_TRAFFIC = Traffic(((1, 4), (3, 2), (4, 1), (9, 1)))
_COSTS = Costs(
    eager=Curve((1, 11), (10.0, 20.0)),
    graph=Curve((1, 11), (1.0, 11.0)),
    capture=Curve((1, 11), (100.0, 200.0)),
    memory=Curve((1, 11), (2.0, 2.0)),
    pool=Curve((1, 11), (10.0, 30.0)),
)


def test_steps_round_up_and_those_above_run_eagerly() -> None:
    assert ladder((1, 4, 6), _TRAFFIC, _COSTS) == Ladder(
        sizes=(1, 4, 6),
        step=(4 * 1 + 2 * 4 + 1 * 4 + 1 * 18) / 8,
        padded=2 / (4 * 1 + 2 * 4 + 1 * 4 + 9),
        eager=1 / 8,
        startup=(100 + 130 + 150) / 1000,
        memory=3 * 2 + 20,
        unused=(6,),
    )


def test_without_a_graph_every_step_is_eager() -> None:
    nothing = ladder((), _TRAFFIC, _COSTS)

    assert nothing.step == (4 * 10 + 2 * 12 + 13 + 18) / 8
    assert (nothing.padded, nothing.eager, nothing.startup, nothing.memory) == (0, 1, 0, 0)


def test_what_costs_do_not_say_is_not_known_and_within_no_limit() -> None:
    one = ladder((4,), _TRAFFIC, Costs(_COSTS.eager, _COSTS.graph))

    assert (one.startup, one.memory) == (None, None)
    assert Limits().allow(one)
    assert Limits(rungs=1).allow(one)
    assert not Limits(startup=9).allow(one)
    assert not Limits(memory=9).allow(one)


def test_a_limit_may_be_reached_but_not_passed() -> None:
    one = ladder((1, 4), _TRAFFIC, _COSTS)

    assert Limits(rungs=2, startup=0.23, memory=20).allow(one)
    assert not Limits(rungs=1).allow(one)
    assert not Limits(startup=0.229).allow(one)
    assert not Limits(memory=19.9).allow(one)
