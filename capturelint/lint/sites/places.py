"""The text by which driver code knows a value, and the plain facts of a call."""

from __future__ import annotations

import ast


def key_of(node: ast.AST) -> str:
    """Return `x`, `self.graph` or `self.graphs[]` for a chain of names, attributes and items, else ""."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = key_of(node.value)
        return f"{base}.{node.attr}" if base else ""
    if isinstance(node, ast.Subscript):
        base = key_of(node.value)
        return f"{base}[]" if base else ""
    return ""


def constant_keywords(node: ast.expr) -> tuple[tuple[str, object], ...]:
    """Return the keyword arguments of a call that are constants; of the others the name alone."""
    if not isinstance(node, ast.Call):
        return ()
    return tuple(
        (word.arg, word.value.value if isinstance(word.value, ast.Constant) else ...)
        for word in node.keywords
        if word.arg is not None
    )


def is_open(node: ast.expr) -> bool:
    """Return whether `*args` or `**options` may hold more arguments of a call."""
    return isinstance(node, ast.Call) and (
        any(word.arg is None for word in node.keywords)
        or any(isinstance(arg, ast.Starred) for arg in node.args)
    )
