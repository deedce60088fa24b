"""Which results are said to lie in the memory of inputs or state."""

from __future__ import annotations

import torch

from capturelint.debug.trees.aliasing import aliases

_X = torch.zeros(4, 4)


def test_a_result_that_is_an_input_is_named() -> None:
    assert aliases({"x": _X}, _X, {}) == ("the result lies in the memory of the input `x`",)


def test_a_view_of_an_input_deep_in_a_result_is_named() -> None:
    result = {"kept": torch.ones(2), "views": [_X[1:].t()]}

    assert aliases({"cache": [_X]}, result, {}) == (
        "`views[0]` of the result lies in the memory of the input `cache[0]`",
    )


def test_a_result_in_a_buffer_is_named() -> None:
    assert aliases({"x": torch.ones(1)}, (_X[0],), {"inner.acc": _X}) == (
        "`[0]` of the result lies in the memory of `inner.acc`",
    )


def test_copies_and_other_parts_of_the_same_storage_are_apart() -> None:
    whole = torch.zeros(8)

    assert aliases({"x": _X, "low": whole[:4]}, (_X.clone(), whole[4:], 3), {}) == ()


def test_tensors_without_elements_share_nothing() -> None:
    nothing = torch.empty(0)

    assert aliases({"x": nothing}, nothing.view(0, 1), {}) == ()
