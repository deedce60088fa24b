"""The nodes below one, without those that have nothing inside."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_LEAVES = frozenset({ast.Name, ast.Constant, ast.Load, ast.Store, ast.Del})


def branches(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it but names, constants and contexts, in no particular order.

    `ast.walk` takes three times as long, since most nodes are of these kinds.
    """
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        for name in current._fields:
            value = getattr(current, name, None)
            if isinstance(value, list):
                pending += [
                    one for one in value if isinstance(one, ast.AST) and type(one) not in _LEAVES
                ]
            elif isinstance(value, ast.AST) and type(value) not in _LEAVES:
                pending.append(value)
