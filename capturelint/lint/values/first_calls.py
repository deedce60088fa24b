"""Blocks of the first call that remember what was in an argument of that call."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from capturelint.lint.values.frame import Frame, chain_text, raw_span
from capturelint.lint.values.tables import TENSOR_ATTRIBUTES

# They ask for the form of a tensor, or make another of the same form.
_FORM_ATTRIBUTES = frozenset("shape device dtype ndim is_cuda requires_grad".split())
_FORM_CALLS = frozenset(
    "size dim numel stride len isinstance type zeros_like ones_like empty_like full_like rand_like "
    "randn_like new_zeros new_ones new_empty new_full new_tensor get_device is_contiguous".split()
)


def remembered(frame: Frame, body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the attributes of self in which a block, just evaluated, put values of an argument."""
    for statement in body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target = statement.targets[0]
        if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
            continue
        if target.value.id != frame.self_name:
            continue
        value = frame.env.get(f"{frame.self_name}.{target.attr}")
        is_tensor = value is not None and value.is_device_tensor and not value.weak
        given = any(_is_tensor_given(frame, name) for name in _valued(statement.value))
        if is_tensor and (given or is_computed(frame, statement.value)):
            yield target.attr


def is_computed(frame: Frame, node: ast.expr) -> bool:
    """Return whether an expression surely computes with what is in an argument, not its form alone.

    What the project's own functions and modules make of an argument is not known.
    """
    if isinstance(node, ast.Name):
        return node.id in frame.kept.computed or _is_tensor_given(frame, node.id)
    if isinstance(node, ast.BinOp):
        return is_computed(frame, node.left) or is_computed(frame, node.right)
    if isinstance(node, ast.UnaryOp):
        return is_computed(frame, node.operand)
    if isinstance(node, ast.Subscript):
        return is_computed(frame, node.value)
    if isinstance(node, ast.Attribute):
        return node.attr in TENSOR_ATTRIBUTES and is_computed(frame, node.value)
    return isinstance(node, ast.Call) and _is_computing(frame, node)


def _is_computing(frame: Frame, node: ast.Call) -> bool:
    """Return whether a method of a tensor, or what is of torch, computes with an argument."""
    function = node.func
    name = chain_text(function).rpartition(".")[2]
    if name in _FORM_CALLS:
        return False
    if isinstance(function, ast.Attribute) and is_computed(frame, function.value):
        return True
    known = frame.values.get(raw_span(function))
    is_of_torch = known is not None and known.name.startswith("torch.") and not known.refs
    return is_of_torch and any(is_computed(frame, given) for given in node.args)


def _is_tensor_given(frame: Frame, name: str) -> bool:
    value = frame.env.get(name)
    is_tensor = value is not None and value.is_device_tensor and not value.weak
    return is_tensor and name in frame.kept.inputs


def _valued(node: ast.AST) -> Iterator[str]:
    """Yield the names in an expression whose values it uses, not only their form."""
    if isinstance(node, ast.Attribute) and node.attr in _FORM_ATTRIBUTES:
        return
    if isinstance(node, ast.Call):
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in _FORM_CALLS:
            return
    if isinstance(node, ast.keyword) and node.arg in ("device", "dtype"):
        return
    if isinstance(node, ast.Name):
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _valued(child)
