"""Which arm of a test capture takes, and what a test tells of the names in it."""

from __future__ import annotations

import ast

from capturelint.kind import DEVICE, HOST, NONE, UNKNOWN, Kind, Ref, Role, Value
from capturelint.lint.values.frame import Frame, chain_text
from capturelint.lint.values.join import join_all
from capturelint.rule import Trait

_HOST_CLASSES = frozenset(
    "int float bool str bytes list tuple dict set complex Number ndarray".split()
)


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


def truth_of(value: Value) -> bool | None:
    """Return the truth of a value that is certain without running the code."""
    if value.constant:
        return bool(value.constant[0])
    return None


def evaluate_bool(frame: Frame, node: ast.BoolOp) -> Value:
    """Return the value of `a and b` or `a or b` outside a test."""
    is_and = isinstance(node.op, ast.And)
    env = frame.env
    values = []
    for operand in node.values[:-1]:
        outcome = test(frame, operand)
        value = frame.values.get(_key(operand)) if frame.live else frame.evaluate(operand)
        values.append(value or UNKNOWN)
        if outcome is not None and outcome is not is_and:
            frame.env = env
            return join_all([*values[:-1], values[-1]]) if len(values) > 1 else values[-1]
        frame.env = narrowed(frame, operand, outcome=is_and)
        if outcome is not None:
            values.pop()
    values.append(frame.evaluate(node.values[-1]))
    frame.env = env
    if not is_and:
        # `a or b` is `a` only where `a` is true, so not where it is None.
        values = [v for v in values[:-1] if not v.is_none] + values[-1:]
        values = [v._replace(optional=False) for v in values[:-1]] + values[-1:]
    return join_all(values)


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
    left = frame.evaluate(node.left)
    result = HOST
    for operator, comparator in zip(node.ops, node.comparators, strict=True):
        right = frame.evaluate(comparator)
        result = _compared(frame, left, operator, right)
        if len(node.ops) > 1 and result.kind is Kind.DEVICE_TENSOR:
            frame.note(Trait.TENSOR_TEST)
        left = right
    return result if len(node.ops) == 1 else result._replace(constant=())


def narrowed(frame: Frame, node: ast.expr, *, outcome: bool) -> dict[str, Value]:
    """Return the names as they are when the condition `node` came out as `outcome`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return narrowed(frame, node.operand, outcome=not outcome)
    if isinstance(node, ast.BoolOp):
        if isinstance(node.op, ast.And) is not outcome:
            only = _only_open(frame, node)
            return frame.env if only is None else narrowed(frame, only, outcome=outcome)
        before = frame.env
        for operand in node.values:
            frame.env = narrowed(frame, operand, outcome=outcome)
        result, frame.env = frame.env, before
        return result
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _narrowed_by_none(frame, node, outcome=outcome)
    if isinstance(node, ast.Call):
        return _narrowed_by_call(frame, node, outcome=outcome)
    if isinstance(node, ast.Name | ast.Attribute) and outcome:
        return _with(
            frame, node, lambda value: value._replace(optional=False) if value.optional else value
        )
    if isinstance(node, ast.NamedExpr) and outcome:
        return _with(frame, node.target, lambda value: value._replace(optional=False))
    return frame.env


def _only_open(frame: Frame, node: ast.BoolOp) -> ast.expr | None:
    """Return the one operand that decides `a and b` (or `a or b`), the others being certain."""
    neutral = isinstance(node.op, ast.And)
    unsure = []
    for operand in node.values:
        value = frame.values.get(_key(operand)) if frame.live else None
        if value is None or truth_of(value) is not neutral:
            unsure.append(operand)
    return unsure[0] if len(unsure) == 1 else None


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
    if isinstance(operator, ast.Is | ast.IsNot):
        same = _is_same(left, right)
        if same is None:
            return HOST
        return _known(same if isinstance(operator, ast.Is) else not same)
    if isinstance(operator, ast.In | ast.NotIn):
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
    if left.constant and right.constant:
        return _compared_constants(left.constant[0], operator, right.constant[0])
    if left.kind is Kind.UNKNOWN and right.kind is Kind.UNKNOWN:
        return UNKNOWN
    if Kind.UNKNOWN in (left.kind, right.kind):
        other = right if left.kind is Kind.UNKNOWN else left
        is_plain = bool(other.constant) and isinstance(other.constant[0], str)
        return HOST if is_plain or other.name else UNKNOWN
    return HOST


def _is_same(left: Value, right: Value) -> bool | None:
    if right.is_none or left.is_none:
        other = left if right.is_none else right
        if other.is_none:
            return True
        if other.optional or other.kind is Kind.UNKNOWN or other.weak:
            return None
        if other.is_tensor or other.constant or other.items is not None:
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


def _narrowed_by_none(frame: Frame, node: ast.Compare, *, outcome: bool) -> dict[str, Value]:
    right = node.comparators[0]
    if not (isinstance(right, ast.Constant) and right.value is None):
        return frame.env
    if not isinstance(node.ops[0], ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
        return frame.env
    is_none = isinstance(node.ops[0], ast.Is | ast.Eq) is outcome
    if is_none:
        return _with(frame, node.left, lambda _: NONE)
    return _with(
        frame, node.left, lambda value: UNKNOWN if value.is_none else value._replace(optional=False)
    )


def _narrowed_by_call(frame: Frame, node: ast.Call, *, outcome: bool) -> dict[str, Value]:
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    if name == "is_tensor" and node.args and outcome:
        return _with(frame, node.args[0], lambda v: v if v.is_tensor else DEVICE)
    if name == "isinstance" and len(node.args) == 2:
        found = class_value(frame, node.args[1])
        if outcome and found.kind is not Kind.UNKNOWN:
            return _with(frame, node.args[0], lambda v: _as_instance(v, found))
        if not outcome and found.kind is Kind.DEVICE_TENSOR:
            return _with(frame, node.args[0], lambda v: UNKNOWN if v.is_tensor else v)
    return frame.env


def class_value(frame: Frame, node: ast.expr) -> Value:
    """Return what an instance of the class (or of one of the classes) that `node` names is."""
    if isinstance(node, ast.Tuple):
        return join_all([class_value(frame, element) for element in node.elts])
    if isinstance(node, ast.BinOp):
        return join_all([class_value(frame, node.left), class_value(frame, node.right)])
    last = chain_text(node).rpartition(".")[2]
    if last in ("Tensor", "Parameter", "FloatTensor", "LongTensor", "BoolTensor"):
        return DEVICE
    if last in _HOST_CLASSES:
        return HOST
    value = frame.evaluate(node) if last else UNKNOWN
    refs = tuple(Ref(Role.INSTANCE, ref.index) for ref in value.refs if ref.role is Role.CLASS)
    if refs:
        is_module = frame.analysis.project.is_module(refs[0].index)
        return Value(Kind.MODULE if is_module else Kind.HOST_VALUE, refs=refs)
    return UNKNOWN


def _as_instance(value: Value, found: Value) -> Value:
    if value.kind is found.kind and not found.refs:
        return value._replace(optional=False, weak=False)
    return found


def _with(frame: Frame, node: ast.expr, change: object) -> dict[str, Value]:
    key = chain_text(node)
    if not key:
        return frame.env
    known = frame.env.get(key)
    if known is None:
        with frame.dormant():
            known = frame.evaluate(node)
    assert callable(change), "narrowing is a function of the value"
    new: Value = change(known)
    if new == known:
        return frame.env
    env = dict(frame.env)
    env[key] = new
    if "." in key:
        frame.dotted_keys = True
    return env


def _known(outcome: object) -> Value:
    return Value(Kind.HOST_VALUE, constant=(bool(outcome),))


def _constant(left: Value, right: Value) -> object:
    constant = left.constant or right.constant
    return constant[0] if constant else None


def _rank(left: Value, right: Value) -> int:
    ranks = [0 if not v.is_tensor and v.is_host else v.rank for v in (left, right)]
    return -1 if -1 in ranks else max(ranks)


def _key(node: ast.expr) -> tuple[int, int, int, int]:
    return (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)


def _record(frame: Frame, node: ast.expr, value: Value) -> None:
    if frame.live:
        frame.values[_key(node)] = value
