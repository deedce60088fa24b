"""What a binary operator gives."""

from __future__ import annotations

import ast

from capturelint.kind import HOST, UNKNOWN, Kind, Value
from capturelint.lint.values.frame import Frame
from capturelint.lint.values.join import element_of, join_all, sequence
from capturelint.rule import Trait


def combined(frame: Frame, left: Value, operator: ast.operator, right: Value) -> Value:
    """Return `left <operator> right`."""
    if isinstance(operator, ast.Mult) and (_is_repeated(left, right) or _is_repeated(right, left)):
        frame.note(Trait.TENSOR_REPEAT)
        return sequence(None, element_of(right if left.is_device_tensor else left))
    return _computed(frame, left, operator, right)


def _computed(frame: Frame, left: Value, operator: ast.operator, right: Value) -> Value:
    """Return `left <operator> right` where tensors are computed with, not repeated by."""
    if left.is_device_tensor or right.is_device_tensor:
        if Kind.HOST_TENSOR in (left.kind, right.kind):
            frame.note(Trait.HOST_SCALAR_OPERAND)
            if frame.analysis.surroundings.around and 0 not in (left.rank, right.rank):
                # Tensors of both sides do not mix, so that one is not where it was supposed to be.
                return Value(Kind.HOST_TENSOR, _dtype(left, operator, right), _rank(left, right))
        if isinstance(operator, ast.Mod) and left.constant and isinstance(left.constant[0], str):
            frame.note(Trait.TENSOR_FORMAT)
            return HOST
        return Value(
            Kind.DEVICE_TENSOR,
            _dtype(left, operator, right),
            _rank(left, right),
            weak=all(v.weak for v in (left, right) if v.is_device_tensor),
            mixed=_is_mixed(left, right),
        )
    if left.kind is Kind.HOST_TENSOR or right.kind is Kind.HOST_TENSOR:
        host, other = (left, right) if left.kind is Kind.HOST_TENSOR else (right, left)
        if other.kind is Kind.UNKNOWN and (other.refs or host.rank == 0):
            return UNKNOWN
        # Only a single value on the host mixes with a tensor on the device.
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


def _is_mixed(left: Value, right: Value) -> bool:
    """Return whether no side is a tensor for sure, but one of them on one way to here."""
    return all(value.mixed or not value.is_device_tensor for value in (left, right))


def _is_repeated(value: Value, times: Value) -> bool:
    """Return whether Python repeats a list or a text as often as a tensor says."""
    is_text = bool(value.constant) and isinstance(value.constant[0], str)
    # Of `float | list[float]` only the elements are known: it may be a number all the same.
    return times.is_device_tensor and (is_text or value.items is not None)


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
        is_bitwise = isinstance(operator, (ast.BitAnd, ast.BitOr, ast.BitXor))
        return ("int" if dtype == "bool" else dtype) if not is_bitwise or number is None else "int"
    return "float" if dtype == "float" else ""


def _rank(left: Value, right: Value) -> int:
    ranks = [v.rank if v.is_tensor else 0 if v.is_host else -1 for v in (left, right)]
    return -1 if -1 in ranks else max(ranks)
