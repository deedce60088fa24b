"""Fresh contents for static inputs, and what makes a graph unable to take them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
import torch
from torch import nn

from capturelint.debug.trees.trees import ArgumentVariesError, copied, copy_into


@dataclass
class Metadata:
    slots: torch.Tensor
    length: int


class Cache:
    def __init__(self, keys: torch.Tensor, seen: int) -> None:
        self.keys = keys
        self.seen = seen


class Color(Enum):
    RED = 1
    BLUE = 2


class Handle:
    """Told by identity."""


def difference(static: object, fresh: object) -> tuple[str, str, str]:
    with pytest.raises(ArgumentVariesError) as caught:
        copy_into(static, fresh)
    return caught.value.path, caught.value.was, caught.value.is_


def test_tensors_everywhere_in_the_tree_get_fresh_contents() -> None:
    static = ([torch.zeros(2)], {"m": Metadata(torch.zeros(1), 4)}, Cache(torch.zeros(3), 2))
    inner = static[0][0], static[1]["m"].slots, static[2].keys

    copy_into(static, ([torch.ones(2)], {"m": Metadata(torch.ones(1), 4)}, Cache(torch.ones(3), 2)))

    assert [tensor.tolist() for tensor in inner] == [[1, 1], [1], [1, 1, 1]]


@pytest.mark.parametrize(
    ("static", "fresh", "path", "was", "is_"),
    [
        ([torch.ones(2)], [torch.ones(3)], "[0]", "float32 tensor (2)", "float32 tensor (3)"),
        (
            {"x": torch.ones(2)},
            {"x": torch.ones(2).int()},
            "x",
            "float32 tensor (2)",
            "int32 tensor (2)",
        ),
        ([1], [2], "[0]", "1", "2"),
        ([1], [True], "[0]", "1", "True"),
        ([1], [1.0], "[0]", "1", "1.0"),
        ([None], [torch.ones(1)], "[0]", "None", "float32 tensor (1)"),
        ([[1]], [[1, 1]], "[0]", "list of 1", "list of 2"),
        ([[1]], [(1,)], "[0]", "list of 1", "tuple of 1"),
        ({"a": 1}, {"b": 1}, "", "a", "b"),
        ([Cache(torch.ones(1), 3)], [Cache(torch.ones(1), 4)], "[0].seen", "3", "4"),
        ([{1, 2}], [{1, 3}], "[0]", "set of 2", "set of 2"),
        ([torch.float32], [torch.float16], "[0]", "torch.float32", "torch.float16"),
        ([Color.RED], [Color.BLUE], "[0]", "Color", "Color"),
        ([nn.ReLU()], [nn.ReLU()], "[0]", "ReLU", "ReLU"),
    ],
)
def test_any_other_difference_is_an_error(
    static: object, fresh: object, path: str, was: str, is_: str
) -> None:
    assert difference(static, fresh) == (path, was, is_)


def test_nothing_is_copied_when_shapes_differ() -> None:
    static = [torch.zeros(1), torch.zeros(2)]

    difference(static, [torch.ones(1), torch.ones(3)])

    assert static[0].tolist() == [0]


@pytest.mark.parametrize(
    ("static", "fresh"),
    [
        (1, 1),
        ("text", "te" + "xt"),
        (float("nan"), float("nan")),
        (Handle(), Handle()),
        (torch.Size([1, 2]), torch.Size([1, 2])),
        (slice(1, 2), slice(1, 2)),
        ({3, 1}, {1, 3}),
        (iter([]), iter([])),
    ],
)
def test_what_is_the_same_or_told_by_identity_is_left(static: object, fresh: object) -> None:
    copy_into([static], [fresh])


def test_functions_of_one_definition_are_the_same() -> None:
    def made() -> Any:
        return lambda: None

    copy_into([made()], [made()])
    assert difference([made()], [lambda: 1])[0] == "[0]"


def test_a_parameter_is_never_written() -> None:
    one, other = nn.Linear(1, 1), nn.Linear(1, 1)
    before = one.weight.item()

    copy_into([one.weight], [one.weight])
    assert difference([one.weight], [other.weight]) == ("[0]", "one parameter", "another")
    assert one.weight.item() == before


def test_memory_that_is_shared_gets_all_contents() -> None:
    fresh = torch.arange(12.0).view(3, 4)
    static = copied((fresh, *fresh.chunk(2, -1)))
    for tensor in static:
        tensor.zero_()

    copy_into(static, (fresh, *fresh.chunk(2, -1)))

    assert torch.equal(static[0], fresh)
    assert torch.equal(static[2], fresh[:, 2:])


def test_static_tensors_of_one_storage_take_fresh_ones_of_several() -> None:
    static = torch.zeros(3, 4).chunk(2, -1)

    copy_into(static, (torch.ones(3, 2), torch.full((3, 2), 2.0)))

    assert static[0].tolist() == [[1, 1]] * 3
    assert static[1].tolist() == [[2, 2]] * 3


def test_one_static_tensor_cannot_hold_two_different_ones() -> None:
    static = torch.zeros(2)

    assert difference([static, static], [torch.ones(2), torch.zeros(2)])[0] == "[0]"
    copy_into([static, static], [torch.ones(2), torch.ones(2)])


def test_an_expanded_tensor_gets_fresh_contents() -> None:
    static = copied(torch.zeros(1, 3).expand(4, 3))

    copy_into(static, torch.arange(3.0).expand(4, 3))
    assert static.tolist() == [[0, 1, 2]] * 4
    copy_into(static, torch.full((4, 3), 5.0))
    assert static.tolist() == [[5, 5, 5]] * 4


def test_an_expanded_tensor_cannot_hold_rows_that_differ() -> None:
    static = copied(torch.zeros(1, 3).expand(4, 3))

    assert difference([static], [torch.arange(12.0).view(4, 3)])[0] == "[0]"


def test_windows_that_overlap_get_fresh_contents() -> None:
    static = copied(torch.zeros(6).unfold(0, 3, 1))

    copy_into(static, torch.arange(6.0).unfold(0, 3, 1).contiguous())

    assert static.tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]]


def test_strides_may_differ() -> None:
    static = torch.zeros(2, 3)

    copy_into(static, torch.arange(6.0).view(3, 2).t())

    assert static.tolist() == [[0, 2, 4], [1, 3, 5]]


def test_not_a_number_counts_as_itself_where_memory_overlaps() -> None:
    static = torch.zeros(1, 2).expand(2, 2)

    copy_into(static, torch.full((2, 2), float("nan")))

    assert static.isnan().all()


def test_tensors_made_in_inference_mode_are_written_outside_it() -> None:
    with torch.inference_mode():
        static = torch.zeros(2)

    copy_into(static, torch.ones(2))

    assert static.tolist() == [1, 1]


def test_leaves_of_autograd_are_written() -> None:
    static = torch.zeros(2, requires_grad=True)

    copy_into(static, torch.ones(2))

    assert static.tolist() == [1, 1]
    assert static.is_leaf


def test_sparse_tensors_are_written() -> None:
    static = torch.eye(2).to_sparse()

    copy_into(static, (torch.eye(2) * 3).to_sparse())

    assert torch.equal(static.to_dense(), torch.eye(2) * 3)


def test_arrays_are_written() -> None:
    numpy = pytest.importorskip("numpy", reason="about numpy arrays")
    static = numpy.zeros(2)

    copy_into([static], [numpy.ones(2)])
    assert static.tolist() == [1, 1]
    assert difference([static], [numpy.ones(3)])[0] == "[0]"


def test_cycles_end() -> None:
    static: list[Any] = [torch.zeros(1)]
    static.append(static)
    fresh: list[Any] = [torch.ones(1)]
    fresh.append(fresh)

    copy_into(static, fresh)

    assert static[0].item() == 1
