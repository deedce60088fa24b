"""Stand-ins: what they return, and when they cannot."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from capturelint.debug.attempts.part import Part
from capturelint.debug.attempts.replaced import StandInError, StandIns


def _part(*results: tuple[object, ...], path: str = "child") -> Part:
    return Part(path, "Identity", nn.Identity(), steps=(), results=results)


def _tensors(*numbers: float) -> tuple[object, ...]:
    return tuple(torch.tensor([float(number)]) for number in numbers)


def _call(part: Part, *args: object, **kwargs: object) -> float:
    result: Any = part.run(*args, **kwargs)
    return float(result)


def test_results_are_returned_in_order_of_the_calls_of_each_step() -> None:
    part = _part(_tensors(1, 2), _tensors(3, 4))
    stand_ins = StandIns([part])
    found = []
    with stand_ins.installed():
        for step in range(2):
            stand_ins.begin(step, static=False)
            found.append([_call(part, None), _call(part, "other", key=1)])

    assert found == [[1.0, 2.0], [3.0, 4.0]]
    assert part.run(7) == 7


def test_a_graph_gets_the_same_tensors_with_the_contents_of_each_step() -> None:
    part = _part(_tensors(1), _tensors(2))
    stand_ins = StandIns([part])
    with stand_ins.installed():
        stand_ins.begin(0, static=True)
        static: Any = part.run()
        stand_ins.begin(1, static=True)

        assert float(static) == 2.0
        assert part.run() is static


def test_what_is_returned_may_be_written() -> None:
    part = _part(([torch.tensor([1.0])],))
    stand_ins = StandIns([part])
    with stand_ins.installed():
        for static in (False, True, False):
            stand_ins.begin(0, static=static)
            result: Any = part.run()
            assert [float(one) for one in result] == [1.0]
            result[0].fill_(9.0)
            result.append(None)


def test_a_call_more_than_recorded_is_no_result_at_all() -> None:
    part = _part(_tensors(1))
    stand_ins = StandIns([part])
    stand_ins.begin(0, static=False)
    with stand_ins.installed():
        part.run()
        with pytest.raises(StandInError):
            part.run()

    assert stand_ins.unfit == "`child` is called more often than when it was recorded"


@pytest.mark.parametrize(
    ("second", "why"),
    [
        (_tensors(1, 2), "`child` is not called equally often in every step"),
        (
            (torch.ones(2),),
            (
                "what `child` returns varies: "
                "[0] was float32 tensor (1) and is float32 tensor (2) in step 2"
            ),
        ),
        (
            (3,),
            "what `child` returns varies: [0] was float32 tensor (1) and is 3 in step 2",
        ),
    ],
)
def test_results_that_vary_do_not_fit(second: tuple[object, ...], why: str) -> None:
    with pytest.raises(StandInError) as caught:
        StandIns([_part(_tensors(1), second)])

    assert str(caught.value) == why


def test_they_last_for_as_many_steps_as_were_recorded_of_all() -> None:
    short, long = _part(_tensors(1), path="short"), _part(_tensors(1), _tensors(2), path="long")

    assert (StandIns([short, long]).steps, StandIns([]).steps) == (1, None)
