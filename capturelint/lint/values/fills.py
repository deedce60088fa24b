"""The other arm of `if key in cache:`, which fills the cache once."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from capturelint.lint.values.frame import chain_text
from capturelint.lint.values.walk import branches

_EMPTIERS = frozenset({"pop", "popitem", "clear", "remove", "discard"})


def is_filled_by_else(node: ast.If, origins: Mapping[str, str]) -> bool:
    """Return whether the `else` arm runs once: the test says that an item is there, and it makes it.

    `if "step" in group: ... else: group["step"] = 1`, where `group` outlives the call: an attribute, or
    a name that was read from one, as `origins` says. Not where the other arm may take the item away.
    """
    test = node.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    holder = chain_text(test.comparators[0])
    if not isinstance(test.ops[0], ast.In) or not (holder in origins or holder.startswith("self.")):
        return False
    item = f"{holder}[{ast.unparse(test.left)}]"
    fills = any(
        isinstance(statement, ast.Assign) and item in map(ast.unparse, statement.targets)
        for statement in node.orelse
    )
    return fills and holder not in _emptied(node.body)


def _emptied(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the chains of what statements take items from."""
    for statement in body:
        for node in branches(statement):
            if isinstance(node, ast.Delete):
                for target in node.targets:
                    inner = target.value if isinstance(target, ast.Subscript) else target
                    yield chain_text(inner)
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in _EMPTIERS
            ):
                yield chain_text(node.func.value)
