"""What counts as a difference between a replay and eager, and what as rounding."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from capturelint.debug.attempts.compare import EXACT, Difference, Tolerance, difference, floor

_DEFAULT = Tolerance()
_FLOATS = (
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
)


def _next(tensor: Tensor) -> Tensor:
    """Return the same numbers, each one step of its dtype larger."""
    whole = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.itemsize]
    return (tensor.view(whole) + 1).view(tensor.dtype)


@pytest.mark.parametrize("dtype", _FLOATS)
def test_rounding_is_no_difference(dtype: torch.dtype) -> None:
    ones = torch.ones(4).to(dtype)

    assert difference(ones, _next(ones), _DEFAULT) is None


@pytest.mark.parametrize("dtype", _FLOATS)
def test_twice_as_much_is_a_difference(dtype: torch.dtype) -> None:
    found = difference(torch.ones(4).to(dtype), torch.full((4,), 2.0).to(dtype), _DEFAULT)

    assert found is not None
    assert (found.largest, found.dtype) == (1.0, str(dtype).removeprefix("torch."))


def test_the_bound_is_relative_to_the_largest_element_that_differs() -> None:
    expected = torch.tensor([1000.0, 1e-3, 0.0])
    got = torch.tensor([1000.001, 1.1e-3, 1e-3])

    assert difference(expected, got, _DEFAULT) is None


def test_a_large_element_that_does_not_differ_hides_nothing() -> None:
    expected = torch.tensor([torch.finfo(torch.float32).min, -1e9, 1.0])
    got = torch.tensor([torch.finfo(torch.float32).min, -1e9, 2.0])

    assert difference(expected, got, Tolerance(1e-5, 0.0)) == Difference(
        "", "float32 tensor (3)", "float32 tensor (3)", 1.0, 1e-5, "float32"
    )


def test_a_noise_near_zero_is_no_difference() -> None:
    assert difference(torch.tensor(0.0), torch.tensor(1e-7), _DEFAULT) is None


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (torch.tensor([math.nan, 1.0]), torch.tensor([math.nan, 1.0])),
        (torch.tensor([math.inf, -math.inf]), torch.tensor([math.inf, -math.inf])),
        (torch.tensor([True, False]), torch.tensor([True, False])),
        (torch.tensor([1 + 2j]), torch.tensor([1 + 2j])),
        (torch.tensor([1 + 2j]).conj(), torch.tensor([1 - 2j])),
        (torch.empty(0), torch.empty(0)),
        (torch.ones(2, 2).to_sparse(), torch.ones(2, 2).to_sparse()),
        (torch.empty(2, device="meta"), torch.empty(2, device="meta")),
        (math.nan, math.nan),
        ((1, "a", None, 2.5), (1, "a", None, 2.5)),
        (object(), object()),
    ],
)
def test_what_is_the_same_is_no_difference(expected: object, got: object) -> None:
    assert difference(expected, got, EXACT) is None
    assert floor(expected, got) == {}


@pytest.mark.parametrize(
    ("expected", "got", "largest"),
    [
        (torch.tensor([1.0, math.nan]), torch.tensor([1.0, 2.0]), math.inf),
        (torch.tensor([1.0, 3.0]), torch.tensor([1.0, math.nan]), math.inf),
        (torch.tensor([math.inf]), torch.tensor([-math.inf]), math.inf),
        (torch.tensor([5]), torch.tensor([6]), 1.0),
        (torch.tensor([2**60]), torch.tensor([2**60 + 1]), 1.0),
        (torch.tensor([1], dtype=torch.uint8), torch.tensor([2], dtype=torch.uint8), 1.0),
        (torch.tensor([True]), torch.tensor([False]), 1.0),
        (torch.tensor([1 + 2j]), torch.tensor([1 + 4j]), 2.0),
        (torch.ones(2, 2).to_sparse(), 3 * torch.ones(2, 2).to_sparse(), 2.0),
    ],
)
def test_what_differs_by_a_number(expected: Tensor, got: Tensor, largest: float) -> None:
    found = difference(expected, got, _DEFAULT)

    assert found is not None
    assert found.largest == largest
    assert floor(expected, got) == {"": largest}


@pytest.mark.parametrize(
    ("expected", "got", "found"),
    [
        (
            {"a": torch.ones(2)},
            {"a": torch.ones(3)},
            Difference("a", "float32 tensor (2)", "float32 tensor (3)"),
        ),
        (
            {"a": torch.ones(2)},
            {"a": torch.ones(2, dtype=torch.float64)},
            Difference("a", "float32 tensor (2)", "float64 tensor (2)"),
        ),
        ((torch.ones(2), 3), (torch.ones(2), 4), Difference("[1]", "3", "4")),
        ((1, 2), (1,), Difference("[1]", "2", "nothing")),
        ({"a": 1}, {"a": 1, "b": 2}, Difference("b", "nothing", "2")),
        (torch.ones(2), None, Difference("", "float32 tensor (2)", "None")),
        (0.5, math.nan, Difference("", "0.5", "nan")),
    ],
)
def test_what_differs_by_no_number(expected: object, got: object, found: Difference) -> None:
    assert difference(expected, got, _DEFAULT) == found
    assert floor(expected, got) == {found.path: math.inf}


def test_the_first_leaf_that_differs_is_named() -> None:
    expected = {"a": torch.ones(1), "b": [torch.ones(1), torch.ones(1)]}
    got = {"a": torch.ones(1), "b": [torch.zeros(1), torch.zeros(1)]}

    found = difference(expected, got, _DEFAULT)

    assert found is not None
    assert found.path == "b[0]"


def test_what_eager_runs_differ_by_is_added_to_the_bound() -> None:
    noise = floor([torch.tensor(1.0), torch.tensor(1.0)], [torch.tensor(1.5), torch.tensor(1.0)])
    tolerance = Tolerance(0.0, 0.0, noise)

    assert noise == {"[0]": 0.5}
    assert difference([torch.tensor(1.0)], [torch.tensor(0.5)], tolerance) is None
    assert difference([torch.tensor(1.0)], [torch.tensor(0.4)], tolerance) is not None
    assert difference([1, torch.tensor(1.0)], [1, torch.tensor(0.9)], tolerance) is not None


def test_a_value_that_eager_runs_differ_in_is_not_compared() -> None:
    tolerance = Tolerance(floor=floor({"time": 1.5, "step": 1}, {"time": 2.5, "step": 1}))

    assert difference({"time": 1.5, "step": 1}, {"time": 9.0, "step": 1}, tolerance) is None
    assert difference({"time": 1.5, "step": 1}, {"time": 1.5, "step": 2}, tolerance) is not None


def test_the_users_bounds_take_the_place_of_the_dtypes() -> None:
    assert difference(torch.tensor(1.0), torch.tensor(1.4), Tolerance(0.5, 0.0)) is None
    assert difference(torch.tensor(1.0), torch.tensor(1.4), Tolerance(0.0, 0.5)) is None
    assert difference(torch.tensor(1.0), torch.tensor(1.0 + 1e-6), EXACT) is not None


def test_numpy_arrays_are_compared_by_their_numbers() -> None:
    numpy = pytest.importorskip("numpy")

    found = difference(numpy.array([1.0, 2.0]), numpy.array([1.0, 4.0]), _DEFAULT)

    assert found is not None
    assert found.largest == 2.0
