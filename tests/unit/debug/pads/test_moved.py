"""Which elements belong to real rows, and what of them moved."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch

from capturelint.debug.attempts.compare import Tolerance
from capturelint.debug.pads.left import Left
from capturelint.debug.pads.moved import Reference, Shorter
from capturelint.debug.pads.rows import Axis, Layout, Rows, axes_between, only_axis, settled

ROWS = Rows(total=4, real=2)
CACHE = "state cache"


def reference(
    base: Mapping[str, object], one: Mapping[str, object], other: Mapping[str, object]
) -> Reference:
    """Return a reference whose state is all zeros before."""
    before = {path: torch.zeros_like(x) for path, x in base.items() if isinstance(x, torch.Tensor)}
    shorter = Shorter(Left(one), ROWS.real, (Left(other),))
    return Reference(ROWS, Left(base), Left(before), Left(base), shorter, Tolerance())


def cache(*values: float) -> dict[str, object]:
    return {CACHE: torch.tensor(values)}


def test_a_slot_belongs_to_who_writes_it_without_pad_rows() -> None:
    # Real rows write slots 0 and 1, on other contents slots 2 and 3; pad rows slot 3.
    known = reference(cache(5, 6, 0, 8), cache(5, 6, 0, 0), cache(0, 0, 7, 9))

    assert known.moved(Left(cache(5, 6, 0, 1))).difference is None
    moved = known.moved(Left(cache(5, 1, 0, 8))).difference
    assert moved is not None
    assert (moved.path, moved.largest) == (CACHE, 5.0)


def test_what_is_written_whatever_real_rows_hold_is_not_theirs() -> None:
    known = reference(cache(5, 1, 8, 0), cache(5, 1, 3, 0), cache(6, 1, 3, 0))

    assert known.moved(Left(cache(5, 2, 9, 0))).difference is None
    assert known.moved(Left(cache(4, 1, 8, 0))).difference is not None


def test_what_no_run_of_fewer_rows_tells_is_in_doubt() -> None:
    base = cache(5, 6, 7)
    known = Reference(ROWS, Left(base), Left({}), Left(base), None, Tolerance())
    moved = known.moved(Left(cache(5, 6, 8)))

    assert moved.difference is None
    assert "belongs to real rows cannot be told" in moved.doubt


def test_pad_rows_of_a_result_may_move() -> None:
    base = {"result": torch.arange(4.0)}
    short = {"result": torch.arange(2.0)}
    known = reference(base, short, short)

    assert known.moved(Left({"result": torch.tensor([0, 1, 9.0, 9])})).difference is None
    assert known.moved(Left({"result": torch.tensor([0, 9.0, 2, 3])})).difference is not None


@pytest.mark.parametrize(
    ("shape", "other", "axes"),
    [
        ((4, 3), (2, 3), (Axis(0),)),
        ((3, 4), (3, 2), (Axis(1),)),
        ((3, 5), (3, 5), ()),
        ((12, 5), (6, 5), (Axis(0, 3, Layout.UNKNOWN),)),
        ((4, 4), (2, 2), (Axis(0), Axis(1))),
        ((5, 3), (3, 3), None),
        ((4, 3), (2,), None),
    ],
)
def test_the_batch_is_what_follows_the_number_of_rows(
    shape: tuple[int, ...], other: tuple[int, ...], axes: object
) -> None:
    assert axes_between(shape, other, ROWS, 2) == axes


def test_a_length_that_two_dimensions_have_tells_nothing() -> None:
    assert only_axis((4, 3), ROWS) == (Axis(0),)
    assert only_axis((4, 4), ROWS) is None
    assert only_axis((8, 3), ROWS) is None
    assert only_axis((3, 5), ROWS) == ()


@pytest.mark.parametrize(
    ("moved", "layout"),
    [
        ([0, 1], Layout.MAJOR),
        ([0, 4], Layout.MINOR),
        ([0], Layout.UNKNOWN),
        ([1, 4], Layout.UNKNOWN),
    ],
)
def test_another_first_row_shows_how_rows_lie(moved: list[int], layout: Layout) -> None:
    base = torch.zeros(8)
    probe = base.clone()
    probe[moved] = 1
    unknown = (Axis(0, 2, Layout.UNKNOWN),)

    assert settled(unknown, base, probe, ROWS) == (Axis(0, 2, layout),)
