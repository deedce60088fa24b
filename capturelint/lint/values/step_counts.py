"""Names that count steps: of a loop that replays or trains, or of the calls of a step function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from capturelint.lint.values.frame import chain_text

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_PASSED_THROUGH = (ast.With, ast.AsyncWith, ast.Try)
_OPTIMIZER = re.compile(r"optim|(?:^|[_.])opt(?:$|_)|scaler", re.IGNORECASE)
_BARS = frozenset({"tqdm", "track"})


def counted(body: Sequence[ast.stmt], line: int, *, is_step: bool) -> frozenset[str]:
    """Return the names and attributes that have another number in each step, as seen from a line.

    Steps are turns of a loop that calls `replay()`, `backward()` or an optimizer, and calls of a
    function that `is_step`, or does one of these outside of loops.
    """
    found: set[str] = set()
    if is_step or any(map(_makes_step, _nodes(body, into_loops=False))):
        lasting = {name for name in _counted_up(body) if "." in name or name in _outer(body)}
        found |= {name for name in lasting if _bindings(body).count(name) == 1}
    for node in _nodes(body):
        if not isinstance(node, _LOOPS) or not node.lineno <= line <= (node.end_lineno or 0):
            continue
        if any(map(_makes_step, _nodes(node.body))):
            bound = _bindings(node.body)
            found |= {name for name in _counted_up(node.body) if bound.count(name) == 1}
            found |= {name for name in _numbered(node) if name not in bound}
    return frozenset(found)


def _makes_step(node: ast.AST) -> bool:
    """Return whether a node is a call without which there is no step."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    method = node.func.attr
    if method == "step":
        return bool(_OPTIMIZER.search(chain_text(node.func.value)))
    return method in ("backward", "manual_backward") or (method == "replay" and not node.args)


def _numbered(loop: ast.For | ast.AsyncFor | ast.While) -> Iterator[str]:
    """Yield the name that `for i in range(n)` or `for i, x in enumerate(xs)` counts with."""
    if isinstance(loop, ast.While):
        return
    over = loop.iter
    while isinstance(over, ast.Call) and _last(over) in _BARS and over.args:
        over = over.args[0]
    if not isinstance(over, ast.Call):
        return
    target = loop.target
    if _last(over) == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
    elif _last(over) not in ("range", "trange", "count"):
        return
    if isinstance(target, ast.Name):
        yield target.id


def _last(call: ast.Call) -> str:
    """Return the last part of the name of what is called."""
    return chain_text(call.func).rpartition(".")[2]


def _counted_up(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield what statements add a constant to, whenever all of them run."""
    for node in body:
        if isinstance(node, _PASSED_THROUGH):
            yield from _counted_up(node.body)
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.op, ast.Add) and _is_number(node.value):
                yield chain_text(node.target)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
            added, name = node.value, chain_text(node.targets[0])
            is_up = isinstance(added.op, ast.Add) and _is_number(added.right)
            if is_up and name and chain_text(added.left) == name:
                yield name


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value > 0


def _bindings(body: Sequence[ast.stmt]) -> list[str]:
    """Return each name or attribute that statements bind, as often as they do."""
    return [
        chain_text(node)
        for node in _nodes(body)
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store)
    ]


def _outer(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names that statements say are of an outer scope."""
    told = [node for node in _nodes(body) if isinstance(node, (ast.Global, ast.Nonlocal))]
    return {name for node in told for name in node.names}


def _nodes(body: Iterable[ast.AST], *, into_loops: bool = True) -> Iterator[ast.AST]:
    """Yield all nodes of statements but those of definitions, and of loops if these are left out."""
    pending = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, _DEFINITIONS) or (isinstance(node, _LOOPS) and not into_loops):
            continue
        yield node
        pending += ast.iter_child_nodes(node)
