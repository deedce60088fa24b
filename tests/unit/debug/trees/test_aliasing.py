"""Which results are said to lie in the memory of inputs or state."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import example, given
from hypothesis import strategies as st

from capturelint.debug.trees.aliasing import aliases
from capturelint.debug.trees.memory import may_share

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


def places(tensor: torch.Tensor) -> set[int]:
    grid = torch.arange(64).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    return set(grid.flatten().tolist())


_ENDS = st.tuples(st.integers(0, 3), st.integers(1, 4))
_PARTS = st.tuples(_ENDS, _ENDS, _ENDS, st.permutations(range(3)))


@given(st.tuples(_PARTS, _PARTS))
def test_tensors_that_share_an_element_are_never_said_to_lie_apart(parts: Any) -> None:
    whole = torch.zeros(4, 4, 4)
    first, second = (
        whole[slice(*a), slice(*b), slice(*c)].permute(order) for a, b, c, order in parts
    )

    assert may_share(first, second) or not places(first) & places(second)


_VIEW = st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(0, 9))


@given(st.tuples(st.integers(0, 6), st.integers(0, 3)), _VIEW, _VIEW)
@example((4, 1), (2, 5, 0), (2, 1, 8))  # a row goes on where the next but one begins
def test_nor_are_views_of_any_strides(
    steps: tuple[int, int], one: tuple[int, int, int], other: tuple[int, int, int]
) -> None:
    whole = torch.zeros(64)
    first, second = (whole.as_strided((n, m), steps, start) for n, m, start in (one, other))

    assert may_share(first, second) or not places(first) & places(second)


@given(st.integers(2, 4), st.integers(0, 2))
def test_chunks_of_one_tensor_lie_apart_in_any_dimension(chunks: int, dim: int) -> None:
    whole = torch.zeros(4, 4, 4)
    first, second, *_ = whole.chunk(chunks, dim)

    assert not may_share(first, second)
    assert aliases({"x": first}, second, {}) == ()
