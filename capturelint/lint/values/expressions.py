"""What each kind of expression is."""

from __future__ import annotations

import ast

from capturelint.kind import HOST, UNKNOWN, Kind, Pinned, Value
from capturelint.lint.values import calls, hints, modes, truth
from capturelint.lint.values.follow import is_super_call, super_attribute
from capturelint.lint.values.frame import Evaluator, Frame, chain_text
from capturelint.lint.values.join import element_of, iterated, join_all, mapping, sequence
from capturelint.lint.values.lookup import attribute_value, name_value
from capturelint.lint.values.narrowing import narrowed
from capturelint.lint.values.operators import combined
from capturelint.lint.values.subscripts import sliced_by, subscripted
from capturelint.rule import Trait

# What is asked of the form of a tensor, not of what it holds.
_FORM = frozenset("shape device dtype ndim is_cuda".split())


def _constant(_frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Constant), "dispatched by type"
    return Value(Kind.HOST_VALUE, constant=(node.value,))


def _name(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Name), "dispatched by type"
    return name_value(frame, node.id)


def _attribute(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Attribute), "dispatched by type"
    known = frame.env.get(chain_text(node)) if frame.dotted_keys else None
    if known is not None:
        frame.evaluate(node.value)
    if frame.live and isinstance(node.value, ast.Name) and node.value.id == frame.self_name:
        found = known if known is not None else _looked_up(frame, node)
        if found.kind is not Kind.MODULE and not found.refs:
            frame.kept.note_read(node.attr)
        return found
    if known is not None:
        return known
    if node.attr in _FORM:
        with frame.kept.only_asked():
            return _looked_up(frame, node)
    return _looked_up(frame, node)


def _looked_up(frame: Frame, node: ast.Attribute) -> Value:
    if is_super_call(node.value):
        return super_attribute(frame, node.attr)
    return attribute_value(frame, frame.evaluate(node.value), node.attr)


def _call(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Call), "dispatched by type"
    return calls.evaluate_call(frame, node)


def _binary(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.BinOp), "dispatched by type"
    left, right = frame.evaluate(node.left), frame.evaluate(node.right)
    if isinstance(node.op, ast.Mod) and any(v.is_device_tensor for v in right.items or ()):
        frame.note(Trait.TENSOR_FORMAT)
    return combined(frame, left, node.op, right)


def _unary(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.UnaryOp), "dispatched by type"
    if isinstance(node.op, ast.Not):
        return truth.evaluate_not(frame, node)
    value = frame.evaluate(node.operand)
    if value.pinned:
        value = value._replace(pinned=Pinned.NO)
    if (
        value.constant
        and isinstance(node.op, ast.USub)
        and isinstance(value.constant[0], int | float)
    ):
        return value._replace(constant=(-value.constant[0],))
    return value._replace(constant=(), name="") if value.constant else value


def _collection(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, (ast.Tuple, ast.List, ast.Set)), "dispatched by type"
    values = [frame.evaluate(element) for element in node.elts]
    if any(isinstance(element, ast.Starred) for element in node.elts):
        return sequence(None, join_all(values))
    if len(values) > 16:
        return sequence(None, join_all(values))
    return sequence(tuple(values))


def _starred(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Starred), "dispatched by type"
    return element_of(frame.evaluate(node.value))


def _dict(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Dict), "dispatched by type"
    values = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            frame.evaluate(key)
        found = frame.evaluate(value)
        values.append(found if key is not None else element_of(found))
    return mapping(join_all(values) if values else None)


def _comprehension(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)), "by type"
    modes.note_use(frame, node.generators[0].iter)
    env = frame.env
    frame.env = dict(env)
    for generator in node.generators:
        source = frame.evaluate(generator.iter)
        if source.is_device_tensor:
            frame.note(Trait.TENSOR_ITERATION)
        frame.analysis.bind(frame, generator.target, iterated(source))
        for condition in generator.ifs:
            outcome = truth.test(frame, condition)
            frame.env = narrowed(frame, condition, outcome=True)
            if outcome is False:
                frame.env = env
                return sequence(None, UNKNOWN)
    if isinstance(node, ast.DictComp):
        frame.evaluate(node.key)
        result = mapping(frame.evaluate(node.value))
    else:
        result = sequence(None, frame.evaluate(node.elt))
    frame.env = env
    return result


def _lambda(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Lambda), "dispatched by type"
    return Value(Kind.HOST_VALUE, refs=(frame.analysis.entrance.lambda_ref(frame, node),))


def _joined(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.JoinedStr), "dispatched by type"
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            if frame.evaluate(part.value).is_device_tensor:
                frame.note(Trait.TENSOR_FORMAT)
            if part.format_spec is not None:
                frame.evaluate(part.format_spec)
    return HOST


def _formatted(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.FormattedValue), "dispatched by type"
    frame.evaluate(node.value)
    return HOST


def _walrus(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.NamedExpr), "dispatched by type"
    value = frame.evaluate(node.value)
    frame.analysis.bind(frame, node.target, value)
    return value


def _yielded(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)), "dispatched by type"
    value = UNKNOWN if node.value is None else frame.evaluate(node.value)
    if isinstance(node, ast.Await):
        return UNKNOWN
    frame.is_generator = True
    frame.holds_region = frame.holds_region or frame.in_region
    frame.returns.append(sequence(None, value) if isinstance(node, ast.Yield) else value)
    return UNKNOWN


def _boolean(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.BoolOp), "dispatched by type"
    return truth.evaluate_bool(frame, node)


def _compare(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Compare), "dispatched by type"
    return truth.evaluate_compare(frame, node)


def _ternary(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.IfExp), "dispatched by type"
    return truth.evaluate_ternary(frame, node)


def annotated(frame: Frame, node: ast.expr | None) -> Value:
    """Return what an annotation in the file of `frame` says."""
    return hints.value_of(node, frame.analysis.project, frame.file.module)


EVALUATORS: dict[type, Evaluator] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _ternary,
    ast.Subscript: subscripted,
    ast.Slice: sliced_by,
    ast.Tuple: _collection,
    ast.List: _collection,
    ast.Set: _collection,
    ast.Starred: _starred,
    ast.Dict: _dict,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
    ast.Lambda: _lambda,
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    ast.NamedExpr: _walrus,
    ast.Yield: _yielded,
    ast.YieldFrom: _yielded,
    ast.Await: _yielded,
}
