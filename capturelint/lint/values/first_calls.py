"""Blocks of the first call that remember what was in an argument of that call."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from capturelint.lint.values.frame import Frame

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
        if is_tensor and any(_is_tensor_given(frame, name) for name in _valued(statement.value)):
            yield target.attr


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
