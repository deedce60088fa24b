"""Whether an expression can be evaluated for every value, so that evaluating it always is safe."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from capturelint.rewrite.observed import Observed
from capturelint.rule import method_call

# These raise where integers are divided by zero; `div` only if it is to round.
_DIVISIONS = frozenset(
    "remainder fmod floor_divide div divide true_divide remainder_ fmod_ floor_divide_ div_ divide_".split()
)
# What faults, or raises, for some values of what it is given.
_PARTIAL = frozenset(
    (
        "gather index_select take embedding scatter scatter_add one_hot index_add take_along_dim"
        " cholesky inverse inv solve svd eigh qr lu multinomial searchsorted item tolist cpu numpy"
        " nonzero masked_select unique bincount repeat_interleave"
    ).split()
)


def partiality(node: cst.BaseExpression, facts: Observed) -> str:
    """Return what in an expression may fail for some values, in words; "" if nothing does."""
    for part in _expressions(node):
        if isinstance(part, cst.Subscript) and _is_by_tensor(part, facts):
            return f"`{facts.text(part)}` fails where an index is too large"
        if isinstance(part, cst.Call):
            called = method_call(part)
            name = called[1] if called is not None else facts.full_name(part.func)
            if name.rpartition(".")[2] in _PARTIAL:
                return f"`{facts.text(part.func)}()` fails or waits for some values"
        if isinstance(part, cst.Call) and _divides_integers(part, facts):
            return f"`{facts.text(part.func)}()` raises where the divisor is zero"
        if isinstance(part, cst.BinaryOperation) and _may_divide_by_zero(part, facts):
            return f"`{facts.text(part)}` raises where the divisor is zero"
    return ""


def _expressions(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    if isinstance(node, cst.BaseExpression):
        yield node
    for child in node.children:
        yield from _expressions(child)


def _is_by_tensor(node: cst.Subscript, facts: Observed) -> bool:
    for element in node.slice:
        parts = (
            [element.slice.value]
            if isinstance(element.slice, cst.Index)
            else [element.slice.lower, element.slice.upper, element.slice.step]
            if isinstance(element.slice, cst.Slice)
            else []
        )
        for part in parts:
            if part is not None and any(facts.value(one).is_tensor for one in _expressions(part)):
                return True
    return False


def _divides_integers(node: cst.Call, facts: Observed) -> bool:
    """Return whether a call divides integers, so that it may raise."""
    called = method_call(node)
    name = called[1] if called is not None else facts.full_name(node.func)
    name = name.rpartition(".")[2]
    words = {arg.keyword.value for arg in node.args if arg.keyword is not None}
    if name not in _DIVISIONS or (
        "div" in name and "floor" not in name and "rounding_mode" not in words
    ):
        return False
    return not any("float" in one.dtype for one in facts.seen(node)) or not facts.seen(node)


def _may_divide_by_zero(node: cst.BinaryOperation, facts: Observed) -> bool:
    """Return whether a division is one of Python numbers, or of integers by integers."""
    if not isinstance(node.operator, cst.Divide | cst.FloorDivide | cst.Modulo | cst.Power):
        return False
    left, right = facts.seen(node.left), facts.seen(node.right)
    is_host = all(one.kind != "tensor" for one in (*left, *right))
    if is_host:
        return not isinstance(node.right, cst.BaseNumber)
    if isinstance(node.operator, cst.Divide | cst.Power):
        return False
    return any(one.kind == "tensor" and "float" not in one.dtype for one in right)
