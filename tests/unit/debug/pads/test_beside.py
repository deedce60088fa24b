"""Batches of rows that are alike, with pad rows of another kind."""

from __future__ import annotations

import torch

from capturelint.debug.attempts.part import Call
from capturelint.debug.pads.beside import Beside, besides
from capturelint.debug.pads.rows import Axis, Rows

ROWS = Rows(4, 2)


def run(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def made(x: torch.Tensor, y: torch.Tensor) -> dict[str, Beside]:
    """Return what is tried with two inputs of four rows, in another step in reverse, by name."""
    axes = {"x": (Axis(0),), "y": (Axis(0),)}
    turned = torch.tensor([3, 2, 1, 0])
    call, stale = Call((x, y), {}), Call((x[turned], y[turned]), {})
    return {one.name: one for one in besides(call, run, axes, ROWS, stale)}


def test_whole_rows_are_those_of_one_step() -> None:
    lengths, slots = torch.tensor([5, 2, 9, 4]), torch.tensor([10, 11, 12, 13])
    found = made(lengths, slots)["the highest next to the lowest in `x`"]

    assert [one.tolist() for one in found.base.args] == [[2] * 4, [11] * 4]
    assert [one.tolist() for one in found.pads.args] == [[2, 2, 9, 9], [11, 11, 12, 12]]


def test_rows_that_each_hold_both_truth_values_are_also_made_to_hold_one() -> None:
    mask = torch.tensor([[True, False]] * 4)
    found = made(mask, torch.zeros(4))["False next to True in `x`"]

    assert bool(found.base.args[0].all())
    assert found.pads.args[0].tolist() == [[True] * 2] * 2 + [[False] * 2] * 2


def test_a_flag_that_no_row_holds_is_not_made_up() -> None:
    assert made(torch.tensor([True] * 4), torch.zeros(4)) == {}


def test_numbers_are_of_one_sign_where_they_have_one() -> None:
    found = made(torch.tensor([1.0, -2.0, 3.0, -4.0]), torch.zeros(4))

    assert found["negative next to positive"].pads.args[0].tolist() == [1.0, 2.0, -3.0, -4.0]
    assert found["positive next to negative"].base.args[0].tolist() == [-1.0, -2.0, -3.0, -4.0]


def test_float8_has_no_sign_that_could_be_changed_and_rows_of_it_are_copied() -> None:
    small = torch.tensor([1.0, -2.0, 3.0, -4.0]).to(torch.float8_e5m2)

    assert made(small, small) == {}
    found = made(torch.tensor([5, 2, 9, 4]), small)["the highest next to the lowest in `x`"]
    assert found.pads.args[1].float().tolist() == [-2.0, -2.0, 3.0, 3.0]
