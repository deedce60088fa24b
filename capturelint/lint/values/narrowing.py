"""What a condition that came out one way tells of the names in it."""

from __future__ import annotations

import ast

from capturelint.kind import DEVICE, HOST, NAMED_HOST_TENSOR, NONE, UNKNOWN, Kind, Ref, Role, Value
from capturelint.lint.values import modes
from capturelint.lint.values.frame import Frame, chain_text, raw_span
from capturelint.lint.values.join import join_all
from capturelint.lint.values.ways import told_apart


def narrowed(frame: Frame, node: ast.expr, *, outcome: bool) -> dict[str, Value]:
    """Return the names as they are when the condition `node` came out as `outcome`."""
    env = _narrowed(frame, node, outcome=outcome)
    if frame.ways:
        env = told_apart(frame, node, env, outcome=outcome)
    return modes.narrowed(frame, node, env, outcome=outcome) if modes.MODES in env else env


def _narrowed(frame: Frame, node: ast.expr, *, outcome: bool) -> dict[str, Value]:
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
    if isinstance(node, ast.Name) and node.id in frame.flags:
        return narrowed(frame, frame.flags[node.id].test, outcome=outcome)
    if isinstance(node, (ast.Name, ast.Attribute)) and outcome:
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
        value = frame.values.get(raw_span(operand)) if frame.live else None
        if value is None or truth_of(value) is not neutral:
            unsure.append(operand)
    return unsure[0] if len(unsure) == 1 else None


def _narrowed_by_none(frame: Frame, node: ast.Compare, *, outcome: bool) -> dict[str, Value]:
    right = node.comparators[0]
    if not (isinstance(right, ast.Constant) and right.value is None):
        return frame.env
    if not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
        return frame.env
    is_none = isinstance(node.ops[0], (ast.Is, ast.Eq)) is outcome
    if is_none:
        return _with(frame, node.left, lambda _: NONE)
    return _with(
        frame, node.left, lambda value: UNKNOWN if value.is_none else value._replace(optional=False)
    )


def _narrowed_by_call(frame: Frame, node: ast.Call, *, outcome: bool) -> dict[str, Value]:
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    if name == "is_tensor" and node.args and not outcome:
        return _with(frame, node.args[0], _not_a_tensor)
    if name == "is_tensor" and node.args:
        return _with(frame, node.args[0], lambda v: _as_instance(frame, node.args[0], v, DEVICE))
    if name == "isinstance" and len(node.args) == 2:
        found = class_value(frame, node.args[1])
        if outcome and found.kind is not Kind.UNKNOWN:
            return _with(frame, node.args[0], lambda v: _as_instance(frame, node.args[0], v, found))
        if not outcome and found.kind is Kind.DEVICE_TENSOR:
            return _with(frame, node.args[0], _not_a_tensor)
        if not outcome and found.kind is Kind.HOST_VALUE and not found.refs:
            return _with(frame, node.args[0], _not_a_number)
    return frame.env


def _not_a_tensor(value: Value) -> Value:
    if value.is_tensor:
        return HOST if value.mixed and not value.optional else UNKNOWN
    return value


def _not_a_number(value: Value) -> Value:
    return value._replace(mixed=False) if value.mixed else value


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
    refs = tuple(Ref(Role.INSTANCE, ref.at) for ref in value.refs if ref.role is Role.CLASS)
    if refs:
        is_module = frame.analysis.project.is_module(refs[0].at)
        return Value(Kind.MODULE if is_module else Kind.HOST_VALUE, refs=refs)
    return UNKNOWN


def _as_instance(frame: Frame, node: ast.expr, value: Value, found: Value) -> Value:
    if value.kind is found.kind and not found.refs:
        return value._replace(optional=False, weak=False, mixed=False)
    if found.kind is Kind.DEVICE_TENSOR:
        # That it is a tensor does not move it: names and what is known still say where it lives.
        name = chain_text(node).rpartition(".")[2]
        if value.is_tensor or frame.analysis.surroundings.is_host_name(name):
            known = value._replace(optional=False, weak=False, mixed=False)
            return known if value.is_tensor else NAMED_HOST_TENSOR
        # Around a captured region a tensor is as often on the host; of a number this arm is for
        # what other callers pass.
        is_number = value.kind is Kind.HOST_VALUE and not value.is_none
        return found._replace(weak=is_number or frame.analysis.surroundings.around)
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


_HOST_CLASSES = frozenset(
    "int float bool str bytes list tuple dict set complex Number ndarray".split()
)


def truth_of(value: Value) -> bool | None:
    """Return the truth of a value that is certain without running the code."""
    if value.constant:
        return bool(value.constant[0])
    return None
