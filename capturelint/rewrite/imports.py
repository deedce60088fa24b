"""What a file calls torch, and where to import it if it has no name there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from capturelint.finding import Edit, Span
from capturelint.source import SourceFile

_NAME = "torch"


@dataclass(frozen=True, slots=True)
class Torch:
    """The name of torch. `edits` add the import that binds it, where there is none.

    `line`: from which on the name is bound; it counts from 1, and is 0 for an import that is added.
    """

    name: str
    edits: tuple[Edit, ...] = ()
    line: int = 0


def torch_in_file(source: SourceFile) -> Torch | None:
    """Return what torch is called in the whole file; None if the name may mean something else.

    Only imports count that run in any case: not those under a test such as `TYPE_CHECKING`.
    """
    try:
        body = ast.parse("\n".join(source.lines)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    bound = {name: one.lineno for one in reversed(body) for name in _bound(one)}
    meanings = {name for statement in body for name in _meanings(statement)}
    if bound:
        plain = [Torch(name, line=line) for name, line in bound.items() if name not in meanings]
        return min(plain, key=lambda one: one.line, default=None)
    if _NAME in {name for statement in body for name in (*_meanings(statement), *_uses(statement))}:
        return None
    place = _place(body)
    if place is None:
        return None
    return Torch(_NAME, (Edit(Span(place, 0, place, 0), f"import {_NAME}\n"),))


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Yield the name that a plain import of the module's top level gives to torch."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.asname is None and alias.name.partition(".")[0] == _NAME:
                yield _NAME
            elif alias.asname is not None and alias.name == _NAME:
                yield alias.asname


def _meanings(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds anywhere inside, other than by the imports above."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.ImportFrom) or (
            isinstance(node, ast.Import) and node is not statement
        ):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname is not None and alias.name != _NAME:
                    yield alias.asname
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names


def _uses(statement: ast.stmt) -> Iterator[str]:
    return (node.id for node in ast.walk(statement) if isinstance(node, ast.Name))


def _place(body: list[ast.stmt]) -> int | None:
    """Return the line before which an import goes: a torch import's, or the first free one."""
    start = 0
    while start < len(body) and (_is_docstring(body[start]) or _is_future(body[start])):
        start += 1
    if start == len(body):
        return None
    imports = [
        one
        for one in body[start:]
        if isinstance(one, ast.ImportFrom)
        and one.level == 0
        and (one.module or "").partition(".")[0] == _NAME
    ]
    first = imports[0] if imports else body[start]
    before = body[body.index(first) - 1] if body.index(first) else None
    if before is not None and (before.end_lineno or 0) >= first.lineno:
        return None
    if isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return min([first.lineno, *(decorator.lineno for decorator in first.decorator_list)])
    return first.lineno


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
