"""The loop of a function that a progress bar is shown for: what it drives, step by step."""

from __future__ import annotations

import ast

from capturelint.lint.symbols import Function
from capturelint.lint.values.frame import chain_text
from capturelint.lint.values.state import FunctionState
from capturelint.lint.values.surroundings import Surroundings
from capturelint.lint.values.walk import branches
from capturelint.source import FunctionNode, line_shift

_BARS = frozenset({"tqdm", "trange", "progress_bar", "track"})


def only_loop(
    surroundings: Surroundings, state: FunctionState, function: Function, node: FunctionNode
) -> int:
    """Return the line of the only loop of `node` that is looked at, in its own tree; 0 for all of it."""
    if state.loop_line:
        return state.loop_line - line_shift(function.facts)
    # What prepares the loop of a driver runs once, and nobody captures it.
    return _bar_loop(node) if surroundings.is_extra(function) else 0


def _bar_loop(node: FunctionNode) -> int:
    """Return the line of the only loop under a progress bar, in its own tree; 0 if none."""
    lines = {line for inner in branches(node) if (line := _line(inner))}
    return lines.pop() if len(lines) == 1 else 0


def _line(node: ast.AST) -> int:
    if isinstance(node, ast.For):
        return node.lineno if _shows_bar(node.iter) else 0
    if isinstance(node, ast.With) and any(_shows_bar(item.context_expr) for item in node.items):
        loops = [one.lineno for one in node.body if isinstance(one, (ast.For, ast.While))]
        return loops[0] if len(loops) == 1 else 0
    return 0


def _shows_bar(node: ast.expr) -> bool:
    """Return whether an expression is `tqdm(steps)`, `self.progress_bar(total=n)` or holds one."""
    return isinstance(node, ast.Call) and (
        chain_text(node.func).rpartition(".")[2] in _BARS or any(map(_shows_bar, node.args))
    )
