"""Which context managers a statement enters, by their last names."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from capturelint.names import dotted

# Stands for an object that is entered without a call at the place: it may be of any class.
ANY = "*"
_NEVER = frozenset({"open", "nullcontext", "suppress"})


def entered(node: ast.stmt) -> Iterator[str]:
    """Yield the names of what a `with`, `enter_context` or `__enter__` enters; `ANY` for an object."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            yield from _names(item.context_expr)
    elif isinstance(node, (ast.Expr, ast.Assign)) and isinstance(node.value, ast.Call):
        function, arguments = node.value.func, node.value.args
        if not isinstance(function, ast.Attribute):
            return
        if function.attr == "enter_context" and arguments:
            yield from _names(arguments[0])
        elif function.attr == "__enter__":
            yield from _names(function.value)


def _names(context: ast.expr) -> Iterator[str]:
    if isinstance(context, ast.IfExp):
        yield from _names(context.body)
        yield from _names(context.orelse)
        return
    text = dotted(context)
    name = text.rpartition(".")[2]
    if text and not text.startswith("torch.") and name not in _NEVER:
        yield name if isinstance(context, ast.Call) else ANY
