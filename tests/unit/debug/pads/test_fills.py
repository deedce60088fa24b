"""What pad rows are made to hold."""

from __future__ import annotations

import torch

from capturelint.debug.attempts.part import Call
from capturelint.debug.pads.fills import filled, fills_of
from capturelint.debug.pads.rows import Axis, Rows

AXES = {"tokens": (Axis(0),), "slots": (Axis(0),)}


def run(tokens: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
    return tokens + slots


def test_each_integer_input_alone_is_that_of_other_rows() -> None:
    call = Call((torch.tensor([5, 6, 7, 8]), torch.tensor([0, 1, 2, 3])), {})
    fill = next(one for one in fills_of(call, run, AXES) if one.name == "other rows' `slots`")

    pads = filled(call, run, AXES, Rows(4, 2), fill, call)

    assert pads is not None
    assert [one.tolist() for one in pads.args] == [[5, 6, 7, 8], [0, 1, 0, 1]]


def test_draws_are_values_of_their_column_and_differ_by_seed() -> None:
    columns = torch.arange(12).reshape(4, 3)
    call = Call((columns, columns), {})
    draws = [one for one in fills_of(call, run, AXES) if ", draw " in one.name]
    made = [filled(call, run, AXES, Rows(4, 2), one, call) for one in draws]
    pads = [one.args[0][2:] for one in made if one is not None]

    assert all(torch.equal(one % 3, columns[2:] % 3) for one in pads)
    assert len({tuple(one.flatten().tolist()) for one in pads}) > 1
