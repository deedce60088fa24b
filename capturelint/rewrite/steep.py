"""Functions whose slope may be infinite: where they do not count, 0 times that is NaN in a gradient.

What they read is replaced there by a harmless number, which `torch.where` lets no gradient through to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, TypeGuard

import libcst as cst

from capturelint.rewrite.literals import number
from capturelint.rewrite.observed import Observed
from capturelint.rule import method_call

HINT = "compute it for what counts, with a harmless number elsewhere"
# Tried in this order: where a function has no infinite slope at one, it may at another.
HARMLESS = ("1.0", "0.5", "2.0")
_STEEP = frozenset(
    (
        "log log1p log2 log10 sqrt rsqrt pow reciprocal asin acos div divide true_divide norm std var"
        " exp expm1 exp2 logit xlogy atan2 normalize softplus var_mean std_mean logsumexp fmod addcdiv"
        " tan cosh sinh vector_norm matrix_norm acosh atanh erfinv cdist dist pairwise_distance"
        " cosine_similarity lgamma digamma float_power remainder"
    ).split()
)
Steep: TypeAlias = cst.BinaryOperation | cst.Call | cst.AugAssign
Place: TypeAlias = cst.Name | cst.Attribute | cst.Call

_DIVISIONS = frozenset(("div", "divide", "true_divide"))


def is_steep(node: cst.CSTNode) -> bool:
    """Return whether code holds a function whose slope may be infinite."""
    if isinstance(node, cst.BinaryOperation):
        if isinstance(node.operator, cst.Divide) and not number(node.right):
            return True
        if isinstance(node.operator, cst.Power) and not _is_at_least_one(node.right):
            return True
    if isinstance(node, cst.AugAssign) and isinstance(node.operator, cst.DivideAssign):
        return not number(node.value) or is_steep(node.value)
    if isinstance(node, cst.Call) and _is_steep_call(node):
        return True
    return any(is_steep(child) for child in node.children)


def _is_steep_call(node: cst.Call) -> bool:
    name = last_name(node.func).removesuffix("_")
    if name not in _STEEP:
        return False
    last = node.args[-1].value if node.args and method_call(node) is not None else None
    if last is not None and len(node.args) == 1 and name in _DIVISIONS:
        return not number(last)
    return last is None or name != "pow" or not _is_at_least_one(last)


def steep_in(node: Steep) -> list[cst.BaseExpression]:
    """Return what an operation, or a call of a function or method, may have an infinite slope in."""
    if isinstance(node, cst.AugAssign):
        return [node.value] * (
            isinstance(node.operator, cst.DivideAssign) and not number(node.value)
        )
    if isinstance(node, cst.BinaryOperation):
        is_power = isinstance(node.operator, cst.Power) and not _is_at_least_one(node.right)
        is_divided = isinstance(node.operator, cst.Divide) and not number(node.right)
        return [node.left] * is_power + [node.right] * is_divided
    if not _is_steep_call(node):
        return []
    called = method_call(node)
    return [*([called[0]] if called is not None else []), *(one.value for one in node.args)]


def _is_at_least_one(node: cst.BaseExpression) -> bool:
    found = number(node)
    return found is not None and found >= 1


def floating_in(node: cst.CSTNode, facts: Observed) -> Iterator[Place]:
    """Yield the names and attributes of an expression that were floating tensors, and what modules gave.

    What goes into a module is left out: what it gives depends on its weights.
    """
    if isinstance(node, cst.Name | cst.Attribute) or is_layer(node, facts):
        seen = facts.seen(node)
        if seen and all(one.kind == "tensor" and "float" in one.dtype for one in seen):
            yield node
            return
    if isinstance(node, cst.Attribute | cst.Arg):
        yield from floating_in(node.value, facts)
        return
    for child in node.children:
        yield from floating_in(child, facts)


def is_layer(node: cst.CSTNode, facts: Observed) -> TypeGuard[cst.Call]:
    """Return whether an expression calls a module."""
    return isinstance(node, cst.Call) and facts.is_pure_module(node.func)


def last_name(node: cst.BaseExpression) -> str:
    """Return the name by which something is known, without what it is an attribute of."""
    if isinstance(node, cst.Call):
        return last_name(node.func)
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else "value"
