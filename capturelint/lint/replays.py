"""Where a function replays a graph, and what of it runs each time it does."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def replay_line(body: Sequence[ast.stmt], *, captures: bool) -> int | None:
    """Return the line of the innermost loop that replays a graph, 0 if `body` does so without one.

    None if it does not replay. None too without a loop where it `captures`: then most of it runs
    once, and which part is the step cannot be told.
    """
    lines = list(_replays(body, 0))
    in_loop = [line for line in lines if line]
    if in_loop:
        return in_loop[0]
    return 0 if lines and not captures else None


def _replays(nodes: Sequence[ast.AST], loop: int) -> Iterator[int]:
    """Yield, for each `graph.replay()` in order, the line of the innermost loop around it, or 0."""
    for node in nodes:
        if isinstance(node, _DEFINITIONS):
            continue
        if _is_replay(node):
            yield loop
        around = node.lineno if isinstance(node, _LOOPS) else loop
        yield from _replays(list(ast.iter_child_nodes(node)), around)


def _is_replay(node: ast.AST) -> bool:
    """Return whether a node is `graph.replay()`, which takes no arguments; buffers that do are others."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "replay"
        and not node.args
        and not node.keywords
    )
