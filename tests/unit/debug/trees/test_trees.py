"""The leaves of trees: which there are, in what order, under which paths."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import torch
from torch import nn

from capturelint.debug.trees.trees import Leaf, leaves

ONE = torch.ones(1)


class Cache:
    def __init__(self, keys: torch.Tensor | None = None) -> None:
        self.keys = keys
        self.seen = 3


class Slotted:
    __slots__ = ("keys", "missing")

    def __init__(self) -> None:
        self.keys = ONE


@dataclass(frozen=True, slots=True)
class Frozen:
    count: int
    parts: list[Any] = field(default_factory=list)


class Output(OrderedDict[str, Any]):
    """Holds each value as an item and as an attribute, as transformers' outputs do."""

    def __init__(self, **values: Any) -> None:
        super().__init__(values)
        self.__dict__.update(values)


class Color(Enum):
    RED = 1


def paths(tree: object) -> list[str]:
    return [leaf.path for leaf in leaves(tree)]


def test_a_value_is_its_own_leaf() -> None:
    assert leaves(5) == [Leaf("", 5)]
    assert leaves(None) == [Leaf("", None)]


def test_tuples_lists_and_dicts_are_descended_in_order() -> None:
    tree = ([1, 2], {"a": 3, 4: "x", "b c": None})

    assert leaves(tree) == [
        Leaf("[0][0]", 1),
        Leaf("[0][1]", 2),
        Leaf("[1]['a']", 3),
        Leaf("[1][4]", "x"),
        Leaf("[1]['b c']", None),
    ]


def test_names_of_arguments_stand_without_brackets() -> None:
    assert paths({"past": {"x": 1}, "two words": 2}) == ["past['x']", "['two words']"]


def test_fields_of_named_tuples_and_dataclasses_are_named() -> None:
    pair = namedtuple("pair", "left right")

    assert leaves([pair(1, Frozen(2, [3]))]) == [
        Leaf("[0].left", 1),
        Leaf("[0].right.count", 2),
        Leaf("[0].right.parts[0]", 3),
    ]


def test_a_model_output_is_listed_once_by_attribute() -> None:
    assert leaves((Output(logits=1, loss=2),)) == [Leaf("[0].logits", 1), Leaf("[0].loss", 2)]


def test_a_plain_dict_with_the_same_keys_keeps_its_brackets() -> None:
    assert paths(({"logits": 1},)) == ["[0]['logits']"]


def test_an_object_is_descended_if_it_holds_a_tensor() -> None:
    assert paths([Cache(ONE)]) == ["[0].keys", "[0].seen"]
    assert paths([Slotted()]) == ["[0].keys"]


def test_an_object_without_a_tensor_is_one_leaf() -> None:
    cache = Cache()

    assert leaves([cache]) == [Leaf("[0]", cache)]


def test_an_object_deep_in_objects_is_found() -> None:
    outer = Cache()
    outer.keys = [Cache(ONE)]  # type: ignore[assignment]

    assert paths(outer) == ["keys[0].keys", "keys[0].seen", "seen"]


def test_modules_functions_enums_and_generators_are_leaves() -> None:
    values = [nn.Linear(1, 1), len, Color.RED, iter([1]), torch.Size([1]), torch.float32]

    assert [leaf.value for leaf in leaves(values)] == values


def test_what_is_held_twice_is_listed_twice() -> None:
    part = [ONE]

    assert paths((part, part)) == ["[0][0]", "[1][0]"]


def test_an_object_held_twice_is_listed_once() -> None:
    cache = Cache(ONE)

    assert paths((cache, cache)) == ["[0].keys", "[0].seen"]


def test_a_cycle_is_listed_once() -> None:
    cycle: list[Any] = [1]
    cycle.append(cycle)

    assert paths(cycle) == ["[0]"]


def test_results_of_torch_with_several_values_are_tuples() -> None:
    assert paths(torch.max(torch.ones(2, 2), 0)) == ["[0]", "[1]"]
