"""What each kind of expression is."""

from __future__ import annotations

import ast

from capturelint.kind import HOST, UNKNOWN, Kind, Value
from capturelint.lint.values import calls, hints, truth
from capturelint.lint.values.frame import Evaluator, Frame, chain_text
from capturelint.lint.values.join import element_of, iterated, join_all, mapping, sequence
from capturelint.lint.values.lookup import attribute_value, name_value
from capturelint.rule import Trait


def _constant(_frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Constant), "dispatched by type"
    return Value(Kind.HOST_VALUE, constant=(node.value,))


def _name(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Name), "dispatched by type"
    return name_value(frame, node.id)


def _attribute(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Attribute), "dispatched by type"
    if frame.dotted_keys:
        known = frame.env.get(chain_text(node))
        if known is not None:
            frame.evaluate(node.value)
            return known
    if _is_super(node.value):
        return calls.super_attribute(frame, node.attr)
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


def combined(frame: Frame, left: Value, operator: ast.operator, right: Value) -> Value:
    """Return `left <operator> right`."""
    if left.is_device_tensor or right.is_device_tensor:
        if Kind.HOST_TENSOR in (left.kind, right.kind):
            frame.note(Trait.HOST_SCALAR_OPERAND)
        if isinstance(operator, ast.Mod) and left.constant and isinstance(left.constant[0], str):
            frame.note(Trait.TENSOR_FORMAT)
            return HOST
        return Value(
            Kind.DEVICE_TENSOR,
            _dtype(left, operator, right),
            _rank(left, right),
            weak=(left.weak and right.weak),
        )
    if left.kind is Kind.HOST_TENSOR or right.kind is Kind.HOST_TENSOR:
        if Kind.UNKNOWN in (left.kind, right.kind):
            return UNKNOWN
        return Value(Kind.HOST_TENSOR, _dtype(left, operator, right), _rank(left, right))
    if isinstance(operator, ast.Mod) and left.constant and isinstance(left.constant[0], str):
        return HOST
    if isinstance(operator, ast.Add) and (_is_sequence(left) or _is_sequence(right)):
        return _concatenated(left, right)
    if isinstance(operator, ast.Mult) and (_is_sequence(left) or _is_sequence(right)):
        base = left if _is_sequence(left) else right
        return sequence(None, element_of(base))
    if Kind.UNKNOWN in (left.kind, right.kind):
        return UNKNOWN
    if left.kind is Kind.SHAPE and right.kind is Kind.SHAPE:
        return Value(Kind.SHAPE, "int", 0)
    return HOST


def _is_sequence(value: Value) -> bool:
    return value.items is not None or (value.element is not None and value.kind is Kind.HOST_VALUE)


def _concatenated(left: Value, right: Value) -> Value:
    if left.items is not None and right.items is not None and len(left.items + right.items) < 16:
        return sequence(left.items + right.items)
    parts = [element_of(v) for v in (left, right) if not (v.items is not None and not v.items)]
    return sequence(None, join_all(parts))


def _dtype(left: Value, operator: ast.operator, right: Value) -> str:
    if isinstance(operator, ast.Div):
        return "float"
    tensors_only = [v for v in (left, right) if v.is_tensor]
    dtypes = {v.dtype for v in tensors_only}
    if len(tensors_only) == 2:
        if "" in dtypes:
            return ""
        if "float" in dtypes:
            return "float"
        return dtypes.pop() if len(dtypes) == 1 else "int"
    other = right if left.is_tensor else left
    number = other.constant[0] if other.constant else None
    dtype = tensors_only[0].dtype
    if isinstance(number, bool):
        return dtype
    if isinstance(number, float):
        return "float"
    if other.kind is Kind.SHAPE or isinstance(number, int):
        is_bitwise = isinstance(operator, ast.BitAnd | ast.BitOr | ast.BitXor)
        return ("int" if dtype == "bool" else dtype) if not is_bitwise or number is None else "int"
    return "float" if dtype == "float" else ""


def _rank(left: Value, right: Value) -> int:
    ranks = [v.rank if v.is_tensor else 0 if v.is_host else -1 for v in (left, right)]
    return -1 if -1 in ranks else max(ranks)


def _unary(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.UnaryOp), "dispatched by type"
    if isinstance(node.op, ast.Not):
        return truth.evaluate_not(frame, node)
    value = frame.evaluate(node.operand)
    if (
        value.constant
        and isinstance(node.op, ast.USub)
        and isinstance(value.constant[0], int | float)
    ):
        return value._replace(constant=(-value.constant[0],))
    return value._replace(constant=(), name="") if value.constant else value


def _subscript(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Subscript), "dispatched by type"
    key = chain_text(node.value) + "[]" if frame.dotted_keys else ""
    base = frame.evaluate(node.value)
    index = frame.evaluate(node.slice)
    if is_suspect_index(node.slice, index):
        frame.note(Trait.TENSOR_SUBSCRIPT)
    if key and key in frame.env:
        return frame.env[key]
    if base.is_tensor:
        kind = base.kind
        if kind is Kind.HOST_TENSOR and index.is_device_tensor:
            kind = Kind.UNKNOWN
        return Value(kind, base.dtype, _indexed_rank(base, index, node.slice), weak=base.weak)
    if base.items is not None and index.constant and isinstance(index.constant[0], int):
        position = index.constant[0]
        if -len(base.items) <= position < len(base.items):
            return base.items[position]
    if isinstance(node.slice, ast.Slice):
        if base.items is not None or base.element is not None:
            sliced = sequence(None, element_of(base))
            return sliced._replace(kind=base.kind, name=base.name)
        return base if base.kind is not Kind.UNKNOWN and not base.refs else UNKNOWN
    if base.refs and base.kind is not Kind.SHAPE:
        found = calls.call_method_of_refs(frame, base, "__getitem__", [index], node)
        if found is not None:
            return found
    return element_of(base) if base.kind is not Kind.MODULE or base.element else UNKNOWN


def is_suspect_index(node: ast.expr, index: Value) -> bool:
    """Return whether an index is other than integers, plain slices and index tensors."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    if any(isinstance(part, ast.List) for part in parts):
        return True
    values = index.items if isinstance(node, ast.Tuple) and index.items is not None else (index,)
    for value in values:
        for part in (value, *(value.items or ())):
            if part.kind is Kind.HOST_TENSOR or (part.element and part.element.is_tensor):
                return True
            if part.is_device_tensor and (part.dtype == "bool" or part.rank == 0):
                return True
    return False


def _indexed_rank(base: Value, index: Value, node: ast.expr) -> int:
    """Return the rank of a tensor after basic indexing, -1 when an index is not basic."""
    if base.rank < 0:
        return -1
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    values = index.items if isinstance(node, ast.Tuple) and index.items else (index,)
    rank = base.rank
    for part, value in zip(parts, values, strict=False):
        if isinstance(part, ast.Slice) or (value.constant == (Ellipsis,)):
            continue
        if value.is_none:
            rank += 1
        elif value.kind in (Kind.SHAPE, Kind.HOST_VALUE) and value.items is None and not value.refs:
            rank -= 1
        elif value.is_tensor and value.rank == 0 and value.dtype == "int":
            rank -= 1
        elif value.is_tensor and value.rank == 1 and value.dtype == "int" and len(parts) == 1:
            continue
        else:
            return -1
    return max(rank, -1)


def _slice(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Slice), "dispatched by type"
    bounds = [frame.evaluate(b) for b in (node.lower, node.upper, node.step) if b is not None]
    if any(bound.is_device_tensor for bound in bounds):
        frame.note(Trait.TENSOR_SUBSCRIPT)
    return HOST


def _collection(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Tuple | ast.List | ast.Set), "dispatched by type"
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
    return mapping(join_all(values) if values else UNKNOWN)


def _comprehension(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp), "by type"
    env = frame.env
    frame.env = dict(env)
    for generator in node.generators:
        source = frame.evaluate(generator.iter)
        if source.is_device_tensor:
            frame.note(Trait.TENSOR_ITERATION)
        frame.analysis.bind(frame, generator.target, iterated(source))
        for condition in generator.ifs:
            outcome = truth.test(frame, condition)
            frame.env = truth.narrowed(frame, condition, outcome=True)
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
    return Value(Kind.HOST_VALUE, refs=(frame.analysis.lambda_ref(frame, node),))


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
    frame.env[node.target.id] = value
    return value


def _yielded(frame: Frame, node: ast.expr) -> Value:
    assert isinstance(node, ast.Yield | ast.YieldFrom | ast.Await), "dispatched by type"
    value = UNKNOWN if node.value is None else frame.evaluate(node.value)
    if isinstance(node, ast.Await):
        return UNKNOWN
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


def _is_super(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    )


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
    ast.Subscript: _subscript,
    ast.Slice: _slice,
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
