"""Copies of trees share nothing that is written, and keep all that is shared inside them."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
import torch
from torch import nn

from capturelint.debug.trees.trees import copied, leaves, with_same_tensors

Pair = namedtuple("Pair", "left right")


@dataclass(frozen=True, slots=True)
class Frozen:
    values: Any


class Cache:
    def __init__(self, keys: Any) -> None:
        self.keys = keys


class Slotted:
    __slots__ = ("__hidden", "unset", "values")

    def __init__(self, values: Any) -> None:
        self.values = values
        self.__hidden = values

    def hidden(self) -> Any:
        return self.__hidden


class Handle:
    """Frees something when it dies, so a copy would free it twice."""

    def __init__(self) -> None:
        self.open = True

    def __del__(self) -> None:
        self.open = False


class Sentinel:
    """Holds nothing: it is told by identity."""


class Color(Enum):
    RED = 1


class Marked(torch.Tensor):
    """A subclass of tensors with an attribute of its own."""


def memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


@pytest.mark.parametrize(
    "make",
    [
        lambda t: (t, [t]),
        lambda t: {"a": t, 3: t, (1, 2): t},
        lambda t: Pair(t, 1),
        lambda t: Frozen([t]),
        Slotted,
        lambda t: Cache({"k": t}),
        lambda t: OrderedDict(b=t, a=t),
        lambda t: defaultdict(list, a=[t]),
        lambda t: deque([t], maxlen=2),
        lambda t: {1: {2, 3}, "t": t},
        lambda t: torch.max(t, 0),
        lambda t: nn.utils.rnn.pack_sequence([t[0]]),
    ],
)
def test_a_copy_has_the_type_and_leaves_of_the_tree_and_none_of_its_memory(make: Any) -> None:
    tree = make(torch.arange(6.0).view(2, 3))

    copy = copied(tree)

    assert type(copy) is type(tree)
    assert [leaf.path for leaf in leaves(copy)] == [leaf.path for leaf in leaves(tree)]
    for one, other in zip(leaves(tree), leaves(copy), strict=True):
        if isinstance(one.value, torch.Tensor):
            assert isinstance(other.value, torch.Tensor)
            assert torch.equal(one.value, other.value)
            assert memory(one.value) != memory(other.value)
        else:
            assert one.value == other.value


def test_a_default_dict_keeps_its_factory_and_a_deque_its_length() -> None:
    tables: dict[str, list[int]] = defaultdict(list)
    tables, window = copied((tables, deque([1], maxlen=2)))

    assert tables["new"] == []
    assert window.maxlen == 2


def test_private_slots_are_copied_and_unset_ones_stay_unset() -> None:
    tree = Slotted([1])

    copy = copied(tree)

    assert copy.hidden() is copy.values
    assert copy.values is not tree.values
    assert not hasattr(copy, "unset")


def test_what_is_shared_stays_shared() -> None:
    part, cache = [1], Cache(None)

    copy = copied({"a": part, "b": part, "c": cache, "d": (cache,)})

    assert copy["a"] is copy["b"]
    assert copy["a"] is not part
    assert copy["c"] is copy["d"][0]  # type: ignore[index]
    assert copy["c"] is not cache


def test_cycles_are_copied() -> None:
    cycle: list[Any] = []
    cycle.append((cycle, {"self": cycle}))

    copy = copied(cycle)

    assert copy is not cycle
    assert copy[0][0] is copy
    assert copy[0][1]["self"] is copy


def test_a_cycle_through_a_tuple_is_copied_from_the_tuple_too() -> None:
    inner: list[Any] = []
    cycle = (inner,)
    inner.append(cycle)

    copy = copied(cycle)

    assert copy[0] is not inner
    assert copy[0][0] is copy


def test_modules_parameters_functions_and_the_like_are_not_copied() -> None:
    module = nn.Linear(1, 1)
    shared = (module, module.weight, len, Color.RED, Cache, torch.Generator(), Sentinel(), Handle())

    for value in shared:
        assert copied([value])[0] is value


def test_copies_are_leaves_of_autograd_that_require_what_the_originals_do() -> None:
    leaf = torch.ones(2, requires_grad=True)
    inner = leaf * 2

    copies = copied((leaf, inner, torch.ones(2)))

    assert [copy.requires_grad for copy in copies] == [True, True, False]
    assert all(copy.is_leaf for copy in copies)
    (copies[0] * copies[1]).sum().backward()  # type: ignore[no-untyped-call]
    assert copies[1].grad is not None
    assert leaf.grad is None


def test_a_copy_made_in_inference_mode_can_be_trained_on() -> None:
    with torch.inference_mode():
        copy = copied(torch.ones(2))

    assert not copy.is_inference()


def test_attributes_and_class_of_tensor_subclasses_are_kept() -> None:
    tensor = torch.ones(2).as_subclass(Marked)
    tensor.role = "keys"  # type: ignore[attr-defined]

    copy = copied(tensor)

    assert type(copy) is Marked
    assert vars(copy) == {"role": "keys"}


def test_arrays_are_copied() -> None:
    numpy = pytest.importorskip("numpy", reason="about numpy arrays")
    array = numpy.ones(3)

    copy = copied([array])[0]

    array[:] = 5
    assert copy.tolist() == [1, 1, 1]


def test_a_skeleton_keeps_tensors_and_forgets_nothing_that_containers_held() -> None:
    tensor = torch.ones(2)
    tree = {"a": [tensor], "b": Cache(tensor)}

    skeleton = with_same_tensors(tree)
    tree["a"].append(None)  # type: ignore[attr-defined]
    tree["b"].keys = None  # type: ignore[attr-defined]

    assert skeleton["a"] == [tensor]
    assert skeleton["b"].keys is tensor  # type: ignore[attr-defined]
