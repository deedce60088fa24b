"""Functions whose slope may be infinite: where they do not count, 0 times that is NaN in a gradient.

What they read is replaced there by a harmless number, which `torch.where` lets no gradient through to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

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
# Of these each element of the result depends on one of each input alone.
_ELEMENTWISE = frozenset(
    (
        "log log1p log2 log10 sqrt rsqrt pow reciprocal asin acos div divide true_divide exp expm1 exp2 tan"
        " cosh sinh acosh atanh erfinv abs neg square sin cos tanh sigmoid relu add sub mul clone float double"
    ).split()
)
_OPERATORS = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)
Steep: TypeAlias = cst.BinaryOperation | cst.Call | cst.AugAssign

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
        is_raised = is_power and number(node.right) is None
        return [node.left] * is_power + [node.right] * (is_divided or is_raised)
    if not _is_steep_call(node):
        return []
    called = method_call(node)
    return [*([called[0]] if called is not None else []), *(one.value for one in node.args)]


def _is_at_least_one(node: cst.BaseExpression) -> bool:
    found = number(node)
    return found is not None and found >= 1


def floating_in(node: cst.CSTNode, facts: Observed) -> Iterator[cst.BaseExpression]:
    """Yield what of an expression to replace: floating tensors by their names, and what steep functions read.

    The latter as a whole unless it is plain: what a layer gives depends on its weights, and what is
    computed with a number on that.
    """
    if isinstance(node, cst.Name | cst.Attribute) and is_floating(node, facts):
        yield node
        return
    if isinstance(node, cst.Attribute | cst.Arg):
        yield from floating_in(node.value, facts)
        return
    whole = steep_in(node) if isinstance(node, cst.BinaryOperation | cst.Call) else []
    wholes = [one for one in whole if facts.is_tensor(one) and not _is_plain(one, facts)]
    yield from wholes
    for child in node.children:
        inner = child.value if isinstance(child, cst.Arg) else child
        receiver = (
            inner.value
            if inner is getattr(node, "func", None) and isinstance(inner, cst.Attribute)
            else inner
        )
        if not any(one in (inner, receiver) for one in wholes):
            yield from floating_in(child, facts)


def _is_plain(node: cst.BaseExpression, facts: Observed) -> bool:
    return is_plain(
        node,
        lambda one: isinstance(one, cst.Name | cst.Attribute) and is_floating(one, facts),
        facts,
    )


def is_plain(node: cst.CSTNode, is_leaf: Callable[[cst.CSTNode], bool], facts: Observed) -> bool:
    """Return whether an expression is known once its leaves are: written numbers, and element by element."""
    if is_leaf(node) or (isinstance(node, cst.BaseExpression) and number(node) is not None):
        return True
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.operator, cst.Minus) and is_plain(node.expression, is_leaf, facts)
    if isinstance(node, cst.BinaryOperation):
        is_known = isinstance(node.operator, _OPERATORS)
        return is_known and all(is_plain(one, is_leaf, facts) for one in (node.left, node.right))
    if not isinstance(node, cst.Call) or any(one.star or one.keyword for one in node.args):
        return False
    called, name = method_call(node), facts.full_name(node.func)
    word = name.rpartition(".")[2] if name.startswith("torch.") else ""
    parts = [one.value for one in node.args]
    if not name and called is not None:
        receiver, word = called
        parts.append(receiver)
    return word in _ELEMENTWISE and all(is_plain(one, is_leaf, facts) for one in parts)


def is_floating(node: cst.CSTNode, facts: Observed) -> bool:
    """Return whether an expression was a floating tensor."""
    seen = facts.seen(node)
    return bool(seen) and all(one.kind == "tensor" and "float" in one.dtype for one in seen)


def last_name(node: cst.BaseExpression) -> str:
    """Return the name by which something is known, without what it is an attribute of."""
    if isinstance(node, cst.Call):
        return last_name(node.func)
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else "value"
