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
    found = _sizes(torch.zeros(3, 5), torch.zeros(5, 1), torch.tensor(1.0))

    assert found == {
        "0 of size 0 in place of 3": [(0, 5), (5, 1), ()],
        "1 of size 1 in place of 3": [(1, 5), (5, 1), ()],
        "2 of size 2 in place of 3": [(2, 5), (5, 1), ()],
        "3 of size 6 in place of 3": [(6, 5), (5, 1), ()],
        "4 of size 1 in place of 5": [(3, 1), (1, 1), ()],
        "5 of size 2 in place of 5": [(3, 2), (2, 1), ()],
        "6 of size 10 in place of 5": [(3, 10), (10, 1), ()],
        "7 of which one alone has one row": [(1, 5), (5, 1), ()],
        "8 of which one alone has one row": [(3, 5), (1, 1), ()],
    }


def test_one_tensor_has_no_other_beside_it() -> None:
    assert list(_sizes(torch.zeros(2, 1))) == [
        "0 of size 0 in place of 2",
        "1 of size 1 in place of 2",
        "2 of size 4 in place of 2",
    ]


def test_rows_are_those_of_the_case_and_the_case_stays() -> None:
    given = torch.arange(3.0).requires_grad_()
    calls = (Call((given,), {}),)
    grown = [way.of(calls)[0].args[0] for way in ways_to_resize(calls)][-1]

    assert grown.tolist() == [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]
    assert grown.requires_grad
    assert given.shape == (3,)


def test_all_masks_can_select_all() -> None:
    x, mask = torch.zeros(2), torch.tensor([True, False])
    (call,) = all_true((Call((x, mask), {}),))

    assert call.args[0].tolist() == [0.0, 0.0]
    assert call.args[1].tolist() == [True, True]
