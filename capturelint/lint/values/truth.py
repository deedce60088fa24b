"""Which arm of a test capture takes, and what a test tells of the names in it."""

from __future__ import annotations

import ast

from capturelint.kind import HOST, UNKNOWN, Kind, Value
from capturelint.lint.values import modes
from capturelint.lint.values.frame import Frame, raw_span
from capturelint.lint.values.join import join_all
from capturelint.lint.values.narrowing import narrowed, truth_of
from capturelint.rule import Trait


def test(frame: Frame, node: ast.expr) -> bool | None:
    """Evaluate a condition; return its outcome under capture when that is certain.

    What a certain operand of `and` or `or` leaves out is marked as never run.
    """
    if isinstance(node, ast.BoolOp):
        return _test_chain(frame, node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = test(frame, node.operand)
        _record(frame, node, HOST if inner is None else _known(not inner))
        return None if inner is None else not inner
    value = frame.evaluate(node)
    if value.kind is Kind.DEVICE_TENSOR:
        frame.note(Trait.TENSOR_TEST)
        return None
    return truth_of(value)


def evaluate_bool(frame: Frame, node: ast.BoolOp) -> Value:
    """Return the value of `a and b` or `a or b` outside a test."""
    return _chained(frame, node)[0]


def _chained(frame: Frame, node: ast.BoolOp) -> tuple[Value, bool | None]:
    """Return the value of `a and b` or `a or b`, and its outcome where that is certain."""
    is_and = isinstance(node.op, ast.And)
    env = frame.env
    unsure = False
    values = []
    for operand in node.values[:-1]:
        value, outcome = _operand(frame, operand)
        values.append(value)
        if outcome is not None and outcome is not is_and:
            frame.env = env
            return join_all(values), outcome
        frame.env = narrowed(frame, operand, outcome=is_and)
        unsure = unsure or outcome is None
        if outcome is not None:
            values.pop()
    last, outcome = _evaluated_operand(frame, node.values[-1])
    frame.env = env
    if outcome is is_and and unsure:
        outcome = None
    if last.constant == (not is_and,):
        # `x or True` is true, `x and False` false, whatever x is.
        return last, outcome
    if not is_and:
        # `a or b` is `a` only where `a` is true, so not where it is None.
        values = [v._replace(optional=False) for v in values if not v.is_none]
    return join_all([*values, last]), outcome


def _operand(frame: Frame, node: ast.expr) -> tuple[Value, bool | None]:
    """Return the value of an operand, and its outcome under capture where that is certain."""
    if frame.live:
        outcome = test(frame, node)
        return frame.values.get(raw_span(node)) or UNKNOWN, outcome
    return _evaluated_operand(frame, node)


def _evaluated_operand(frame: Frame, node: ast.expr) -> tuple[Value, bool | None]:
    """Return both of an operand, evaluated once: twice in each of n inside one another is 2**n times."""
    if isinstance(node, ast.BoolOp) and not frame.live:
        value, outcome = _chained(frame, node)
        if frame.driver is not None:
            frame.driver[raw_span(node)] = value
        return value, outcome
    value = frame.evaluate(node)
    return value, None if value.is_device_tensor else truth_of(value)


def evaluate_not(frame: Frame, node: ast.UnaryOp) -> Value:
    """Return the value of `not x`."""
    inner = test(frame, node.operand)
    return HOST if inner is None else _known(not inner)


def evaluate_ternary(frame: Frame, node: ast.IfExp) -> Value:
    """Return the value of `a if test else b`."""
    outcome = test(frame, node.test)
    env = frame.env
    values = []
    for branch, arm in ((True, node.body), (False, node.orelse)):
        if outcome is not None and outcome is not branch:
            continue
        frame.env = narrowed(frame, node.test, outcome=branch)
        values.append(frame.evaluate(arm))
    frame.env = env
    return join_all(values)


def evaluate_compare(frame: Frame, node: ast.Compare) -> Value:
    """Return the value of a comparison: a device tensor when a side is one."""
    if all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in node.ops):
        with frame.kept.only_asked():
            return _evaluated_compare(frame, node)
    return _evaluated_compare(frame, node)


def _evaluated_compare(frame: Frame, node: ast.Compare) -> Value:
    left = frame.evaluate(node.left)
    found = modes.answer(frame, node)
    if found is not None:
        return found
    result = HOST
    for operator, comparator in zip(node.ops, node.comparators, strict=True):
        right = frame.evaluate(comparator)
        result = _compared(frame, left, operator, right)
        if len(node.ops) > 1 and result.kind is Kind.DEVICE_TENSOR:
            frame.note(Trait.TENSOR_TEST)
        left = right
    return result if len(node.ops) == 1 else result._replace(constant=())


def _test_chain(frame: Frame, node: ast.BoolOp) -> bool | None:
    is_and = isinstance(node.op, ast.And)
    env = frame.env
    unsure = False
    for operand in node.values:
        outcome = test(frame, operand)
        if outcome is not None and outcome is not is_and:
            frame.env = env
            # An operand before it may have waited, but the outcome is certain all the same.
            return outcome
        unsure = unsure or outcome is None
        frame.env = narrowed(frame, operand, outcome=is_and)
    frame.env = env
    _record(frame, node, HOST)
    return None if unsure else is_and


def _compared(frame: Frame, left: Value, operator: ast.cmpop, right: Value) -> Value:
    if isinstance(operator, (ast.Is, ast.IsNot)):
        same = _is_same(left, right)
        if same is None:
            return HOST
        return _known(same if isinstance(operator, ast.Is) else not same)
    if isinstance(operator, (ast.In, ast.NotIn)):
        if left.is_device_tensor or right.is_device_tensor:
            frame.note(Trait.TENSOR_MEMBERSHIP)
        return _membership(left, right, positive=isinstance(operator, ast.In))
    if left.is_device_tensor or right.is_device_tensor:
        if left.is_none or right.is_none or isinstance(_constant(left, right), str):
            return HOST
        rank = _rank(left, right)
        return Value(Kind.DEVICE_TENSOR, "bool", rank, weak=left.weak or right.weak)
    if left.kind is Kind.HOST_TENSOR or right.kind is Kind.HOST_TENSOR:
        return Value(Kind.HOST_TENSOR, "bool")
    if "@device" in (left.name, right.name) and isinstance(operator, (ast.Eq, ast.NotEq)):
        return _compared_devices(left, operator, right)
    if left.constant and right.constant:
        return _compared_constants(left.constant[0], operator, right.constant[0])
    if left.kind is Kind.UNKNOWN and right.kind is Kind.UNKNOWN:
        return UNKNOWN
    if Kind.UNKNOWN in (left.kind, right.kind):
        other = right if left.kind is Kind.UNKNOWN else left
        is_plain = bool(other.constant) and isinstance(other.constant[0], str)
        return HOST if is_plain or other.name else UNKNOWN
    return HOST


def _compared_devices(left: Value, operator: ast.cmpop, right: Value) -> Value:
    """Return whether two devices are one; those of different types never are."""
    types = []
    for value in (left, right):
        is_named = value.name == "@device" or bool(value.constant)
        text = value.constant[0] if value.constant else "cuda"
        types.append(str(text).partition(":")[0] if is_named else "")
    if "" in types or types[0] == types[1]:
        return HOST
    return _known(isinstance(operator, ast.NotEq))


def _is_same(left: Value, right: Value) -> bool | None:
    if right.is_none or left.is_none:
        other = left if right.is_none else right
        if other.is_none:
            return True
        if other.optional or other.kind is Kind.UNKNOWN or other.weak:
            return None
        is_shape = other.kind is Kind.SHAPE
        if is_shape or other.is_tensor or other.constant or other.items is not None:
            return False
        return None
    if left.constant and right.constant:
        return left.constant[0] is right.constant[0]
    return None


def _membership(left: Value, right: Value, *, positive: bool) -> Value:
    if left.constant and right.items is not None and all(item.constant for item in right.items):
        found = left.constant[0] in [item.constant[0] for item in right.items]
        return _known(found is positive)
    return HOST


def _compared_constants(left: object, operator: ast.cmpop, right: object) -> Value:
    if isinstance(operator, ast.Eq):
        return _known(left == right)
    if isinstance(operator, ast.NotEq):
        return _known(left != right)
    if isinstance(left, int | float) and isinstance(right, int | float):
        if isinstance(operator, ast.Lt):
            return _known(left < right)
        if isinstance(operator, ast.Gt):
            return _known(left > right)
        if isinstance(operator, ast.LtE):
            return _known(left <= right)
        if isinstance(operator, ast.GtE):
            return _known(left >= right)
    return HOST


def _known(outcome: object) -> Value:
    return Value(Kind.HOST_VALUE, constant=(bool(outcome),))


def _constant(left: Value, right: Value) -> object:
    constant = left.constant or right.constant
    return constant[0] if constant else None


def _rank(left: Value, right: Value) -> int:
    ranks = [0 if not v.is_tensor and v.is_host else v.rank for v in (left, right)]
    return -1 if -1 in ranks else max(ranks)


def _record(frame: Frame, node: ast.expr, value: Value) -> None:
    if frame.live:
        frame.values[raw_span(node)] = value
