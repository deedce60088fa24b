"""What holds of the copy of any tree, and of contents copied into it."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from capturelint.debug.trees.trees import copied, copy_into, leaves

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


tensors = st.builds(
    lambda size, start, turn: (
        (torch.arange(float(size)) + start).view(2, -1).t()
        if turn and size % 2 == 0
        else torch.arange(float(size)) + start
    ),
    st.integers(0, 6),
    st.integers(-3, 3),
    st.booleans(),
)
trees = st.recursive(
    st.one_of(tensors, st.integers(), st.none(), st.text(max_size=3), st.booleans()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=3), inner, max_size=3),
        st.builds(Pair, inner, inner),
        st.builds(Frozen, inner),
        st.builds(Slotted, inner),
        st.builds(lambda a: Cache([a, a]), inner),
    ),
    max_leaves=12,
)


def bits(tree: object) -> list[object]:
    return [
        (leaf.path, leaf.value.tolist() if isinstance(leaf.value, torch.Tensor) else leaf.value)
        for leaf in leaves(tree)
        if isinstance(leaf.value, (torch.Tensor, int, str, bool, type(None)))
    ]


def tensors_of(tree: object) -> list[torch.Tensor]:
    return [leaf.value for leaf in leaves(tree) if isinstance(leaf.value, torch.Tensor)]


@settings(max_examples=80, deadline=None)
@given(trees)
def test_any_copy_equals_its_tree_and_shares_nothing_that_is_written(tree: object) -> None:
    before = bits(tree)

    copy = copied(tree)
    assert bits(copy) == before
    for tensor in tensors_of(copy):
        tensor.fill_(7)
    assert bits(tree) == before


@settings(max_examples=80, deadline=None)
@given(trees)
def test_contents_copied_into_any_static_tree_make_it_equal(tree: object) -> None:
    static = copied(tree)
    for tensor in tensors_of(static):
        tensor.fill_(7)

    copy_into(static, tree)

    assert bits(static) == bits(tree)
