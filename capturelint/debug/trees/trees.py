"""Trees of values that a module receives and returns: their leaves, copies, and fresh contents.

A tree is nested tuples, lists, dicts, sets, dataclasses, named tuples, model outputs, and plain
objects such as key-value caches. Modules, parameters, functions, streams and the like are leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass

from torch import Tensor

from capturelint.debug.trees.branches import branches, is_object
from capturelint.debug.trees.copies import copied, nodes, with_same_tensors
from capturelint.debug.trees.static_inputs import ArgumentVariesError, copy_into

__all__ = [
    "ArgumentVariesError",
    "Leaf",
    "copied",
    "copy_into",
    "leaves",
    "leaves_and_kinds",
    "nodes",
    "with_same_tensors",
]


@dataclass(frozen=True, slots=True)
class Leaf:
    """What stands at the end of a branch. `path`: such as `[0].logits` or `cache.layers[0].keys`.

    `value`: a tensor, number, string, None, or anything that trees do not descend into.
    """

    path: str
    value: object


def leaves(tree: object) -> list[Leaf]:
    """Return the leaves of `tree` in a stable order.

    An object that holds no tensor is one leaf, dataclasses apart. What is held twice is listed
    twice, objects and cycles once.
    """
    return _Walk().leaves(tree, "")


def leaves_and_kinds(tree: object) -> tuple[list[Leaf], list[tuple[str, type]]]:
    """Return the leaves of `tree`, and the path and class of each container and object around them."""
    walk = _Walk()
    return walk.leaves(tree, ""), walk.kinds


class _Walk:
    def __init__(self) -> None:
        self.entered: set[int] = set()  # containers that are being walked, objects that were met
        self.kinds: list[tuple[str, type]] = []  # in the order in which they are entered

    def leaves(self, value: object, path: str) -> list[Leaf]:
        held = branches(value, path)
        if held is None:
            return [Leaf(path, value)]
        if id(value) in self.entered:
            return []
        self.entered.add(id(value))
        self.kinds.append((path, type(value)))
        found = [leaf for branch, item in held for leaf in self.leaves(item, branch)]
        if not is_object(type(value)):
            self.entered.discard(id(value))
            return found
        if is_dataclass(value) or any(isinstance(leaf.value, Tensor) for leaf in found):
            return found
        return [Leaf(path, value)]
