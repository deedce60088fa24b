"""Which operands of a condition Python asks for their truth, and which of them are tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import libcst as cst

from capturelint.kind import Value

# Tells what is known of an expression.
ValueOf: TypeAlias = Callable[[cst.CSTNode], Value]

# Comparisons that give a plain bool whatever they compare.
_PLAIN_COMPARISONS = (cst.Is, cst.IsNot, cst.In, cst.NotIn)
# Methods whose result is a tensor if the receiver is one.
_TESTS = frozenset(
    [
        "all",
        "any",
        "sum",
        "max",
        "min",
        "isnan",
        "isinf",
        "isfinite",
        "eq",
        "ne",
        "gt",
        "ge",
        "lt",
        "le",
        "count_nonzero",
    ]
)


def asked_tensor(
    value_of: ValueOf, test: cst.BaseExpression, *, is_kept: bool = False
) -> cst.BaseExpression | None:
    """Return the first operand of `test` that is a device tensor and whose truth Python asks.

    `is_kept` where the value of the whole is kept rather than tested, as in `y = a and b`.
    """
    for operand in _asked(test, is_kept=is_kept):
        if _is_tensor_test(value_of, operand):
            return operand
    return None


def parts_of_test(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield `test` and the operands of its `and`, `or`, `not` and `:=`, outermost first."""
    yield test
    if isinstance(test, cst.BooleanOperation):
        yield from parts_of_test(test.left)
        yield from parts_of_test(test.right)
    elif isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        yield from parts_of_test(test.expression)
    elif isinstance(test, cst.NamedExpr):
        yield from parts_of_test(test.value)


def only_raises(node: cst.If) -> bool:
    """Return whether an `if` does nothing but raise, after building its message at most."""
    last = node.body.body[-1] if node.body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, cst.Raise) and node.orelse is None


def _asked(test: cst.BaseExpression, *, is_kept: bool) -> Iterator[cst.BaseExpression]:
    if isinstance(test, cst.BooleanOperation):
        yield from _asked(test.left, is_kept=False)
        yield from _asked(test.right, is_kept=is_kept)
    elif isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        yield from _asked(test.expression, is_kept=False)
    elif isinstance(test, cst.NamedExpr):
        yield from _asked(test.value, is_kept=is_kept)
    elif not is_kept or (isinstance(test, cst.Comparison) and len(test.comparisons) > 1):
        yield test


def _is_tensor_test(value_of: ValueOf, operand: cst.BaseExpression) -> bool:
    if isinstance(operand, cst.Comparison):
        return _compares_tensors(value_of, operand)
    value = value_of(operand)
    if value.weak or value.optional:
        # Such a name may hold a number or None; the result of an operation on tensors cannot.
        return value.is_device_tensor and _is_tensor_operation(value_of, operand)
    return value.is_device_tensor


def _compares_tensors(value_of: ValueOf, node: cst.Comparison) -> bool:
    if any(isinstance(link.operator, _PLAIN_COMPARISONS) for link in node.comparisons):
        return False
    sides = [value_of(node.left), *(value_of(link.comparator) for link in node.comparisons)]
    if any(isinstance(constant, str | None) for side in sides for constant in side.constant):
        return False
    is_chain = len(node.comparisons) > 1
    return value_of(node).is_device_tensor or (
        is_chain and any(side.is_device_tensor for side in sides)
    )


def _is_tensor_operation(value_of: ValueOf, operand: cst.BaseExpression) -> bool:
    if not isinstance(operand, cst.Call):
        return False
    is_test = isinstance(operand.func, cst.Attribute) and operand.func.attr.value in _TESTS
    return is_test or value_of(operand.func).name.startswith("torch.")
