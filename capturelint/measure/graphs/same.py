"""Whether a value that is no tensor is the one that a graph keeps from its capture."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from capturelint.debug.trees.attributes import is_plain
from capturelint.debug.trees.branches import branches
from capturelint.debug.trees.memory import is_array
from capturelint.debug.trees.static_inputs import ArgumentVariesError, check_alike

_PLAIN = (bool, int, float, str, bytes)


def is_same(captured: Any, value: Any) -> bool:
    """Return whether code computes with `value` what it does with `captured`, which holds no tensor.

    No where that cannot be told: of what Python compares by identity alone, two are not the same.
    """
    if value is captured:
        return True
    if type(value) in _PLAIN and type(captured) is type(value) and value == captured:
        return True
    try:
        check_alike(captured, value)
    except ArgumentVariesError:
        return False
    return _is_same_tree(captured, value, set())


def _is_same_tree(one: Any, other: Any, met: set[tuple[int, int]]) -> bool:
    """Return whether two trees are the same, of which `check_alike` has seen no difference."""
    if one is other or (id(one), id(other)) in met or isinstance(one, (set, frozenset)):
        return True
    met.add((id(one), id(other)))
    held, others = branches(one, ""), branches(other, "")
    if held is None or others is None:
        return _is_same_leaf(one, other)
    pairs = zip(held, others, strict=True)
    return all(_is_same_tree(item, another, met) for (_, item), (_, another) in pairs)


def _is_same_leaf(one: Any, other: Any) -> bool:
    cls: Any = type(one)
    if is_array(cls):
        return bool(((one == other) | ((one != one) & (other != other))).all())
    if cls is FunctionType:  # with the same code; what it is bound to may differ
        return not (one.__closure__ or one.__defaults__ or one.__kwdefaults__)
    if cls.__eq__ is object.__eq__:
        return is_plain(cls)  # without attributes one of plain Python is as good as another
    try:
        return bool(one == other) or bool(one != one and other != other)
    except Exception:  # noqa: BLE001 - a class may compare as it likes, such as by tensors
        return False
