"""Python numbers written out in code, and lists of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import libcst as cst

Number = bool | int | float

_TRUTHS = {"True": True, "False": False}
# Above it a float32 tensor may be filled with another number than the one that is copied into it.
_LARGEST_INT = 2**53
# A float above this raises when a float32 tensor is filled with it, and is inf when it is copied.
_LARGEST_FLOAT = 3.4e38


def number(node: cst.BaseExpression) -> Number | None:
    """Return the number that is written out, also with a sign or as `float("inf")`; else None.

    None too for one that a tensor of its type cannot hold, or that it may round in two ways.
    """
    found = _number(node)
    if isinstance(found, float) and _LARGEST_FLOAT < abs(found) < math.inf:
        return None
    if isinstance(found, int) and abs(found) > _LARGEST_INT:
        return None
    return found


def numbers(node: cst.BaseExpression) -> list[tuple[cst.BaseExpression, Number]] | None:
    """Return the items of a list or tuple of written numbers, with their nodes; None for others."""
    if not isinstance(node, cst.List | cst.Tuple):
        return None
    found: list[tuple[cst.BaseExpression, Number]] = []
    for element in node.elements:
        item = number(element.value) if isinstance(element, cst.Element) else None
        if item is None:
            return None
        found.append((element.value, item))
    return found


def progression(items: Sequence[Number]) -> range | None:
    """Return the range that holds exactly these integers in order; None if there is none.

    A single integer is no progression: a fill says it more plainly.
    """
    if len(items) < 2 or any(type(item) is not int for item in items):
        return None
    whole = [int(item) for item in items]
    step = whole[1] - whole[0]
    if step == 0:
        return None
    found = range(whole[0], whole[-1] + (1 if step > 0 else -1), step)
    return found if list(found) == whole else None


def arguments_of(found: range) -> str:
    """Return a range as the arguments of `torch.arange`, the plainest way."""
    if found.step != 1:
        return f"{found.start}, {found.stop}, {found.step}"
    return f"{found.stop}" if found.start == 0 else f"{found.start}, {found.stop}"


def _number(node: cst.BaseExpression) -> Number | None:
    if isinstance(node, cst.Name):
        return _TRUTHS.get(node.value)
    if isinstance(node, cst.Integer | cst.Float):
        return node.evaluated_value
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus | cst.Plus):
        inner = _number(node.expression)
        if inner is None or isinstance(inner, bool):
            return None
        return -inner if isinstance(node.operator, cst.Minus) else inner
    return _infinity(node)


def _infinity(node: cst.BaseExpression) -> float | None:
    """Return the value of `float("inf")` and `float("-inf")`."""
    if not isinstance(node, cst.Call) or len(node.args) != 1:
        return None
    given = node.args[0]
    is_plain = (
        not given.star and given.keyword is None and isinstance(given.value, cst.SimpleString)
    )
    if not (isinstance(node.func, cst.Name) and node.func.value == "float" and is_plain):
        return None
    word = given.value.evaluated_value if isinstance(given.value, cst.SimpleString) else None
    return float(word) if word in ("inf", "-inf") else None
