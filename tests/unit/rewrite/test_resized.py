"""Inputs of a case in other sizes."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402 - needs torch

from capturelint.debug.attempts.part import Call  # noqa: E402
from capturelint.rewrite.proof.resized import all_true, ways_to_resize  # noqa: E402


def _sizes(*tensors: Tensor) -> dict[str, list[tuple[int, ...]]]:
    """Return the shapes of the tensors of a call in all ways to resize them."""
    calls = (Call(tensors, {}),)
    return {
        f"{number} {way.name}": [tuple(one.shape) for one in way.of(calls)[0].args]
        for number, way in enumerate(ways_to_resize(calls))
    }


def test_each_size_changes_wherever_it_is() -> None:
    found = _sizes(torch.zeros(3, 5), torch.zeros(5), torch.tensor(1.0))

    assert found == {
        "0 of size 7 in place of 3": [(7, 5), (5,), ()],
        "1 of size 2 in place of 3": [(2, 5), (5,), ()],
        "2 of size 1 in place of 3": [(1, 5), (5,), ()],
        "3 of size 0 in place of 3": [(0, 5), (5,), ()],
        "4 of size 11 in place of 5": [(3, 11), (11,), ()],
        "5 of size 3 in place of 5": [(3, 3), (3,), ()],
        "6 of size 2 in place of 5": [(3, 2), (2,), ()],
        "7 of size 1 in place of 5": [(3, 1), (1,), ()],
        "8 of which one alone has 1 row": [(1, 5), (5,), ()],
        "9 of which one alone has 2 rows": [(2, 5), (5,), ()],
        "10 of which one alone has 1 row": [(3, 5), (1,), ()],
        "11 of which one alone has 2 rows": [(3, 5), (2,), ()],
        "12 of which one alone has 3 rows": [(3, 5), (3,), ()],
    }


def test_a_size_of_one_grows_and_one_tensor_has_no_other_beside_it() -> None:
    assert list(_sizes(torch.zeros(1))) == [
        "0 of size 3 in place of 1",
        "1 of size 2 in place of 1",
        "2 of size 0 in place of 1",
    ]


def test_rows_are_those_of_the_case_and_the_case_stays() -> None:
    given = torch.arange(2.0).requires_grad_()
    calls = (Call((given,), {}),)
    grown = next(iter(ways_to_resize(calls))).of(calls)[0].args[0]

    assert grown.tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]
    assert grown.requires_grad
    assert given.shape == (2,)


def test_what_may_fail_is_apart_or_empty() -> None:
    calls = (Call((torch.zeros(2), torch.zeros(2)), {}),)
    ways = list(ways_to_resize(calls))

    assert [way.name for way in ways if way.may_fail] == [
        "of size 0 in place of 2",
        *("of which one alone has 1 row", "of which one alone has 3 rows") * 2,
    ]
    assert [way.name for way in ways if way.needs_others] == [
        "of size 1 in place of 2",
        "of size 0 in place of 2",
    ]


def test_all_masks_can_select_all() -> None:
    x, mask = torch.zeros(2), torch.tensor([True, False])
    full = all_true((Call((x, mask), {}),))

    assert full is not None
    assert [one.tolist() for one in full[0].args] == [[0.0, 0.0], [True, True]]
    assert all_true((Call((x,), {}),)) is None
