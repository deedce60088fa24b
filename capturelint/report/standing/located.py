"""Where findings are now: files under other folders, and lines that have moved."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from capturelint.errors import shown_path
from capturelint.execution import Asked
from capturelint.finding import Finding, Span
from capturelint.lint.files import UnreadableFileError, decode, read_data
from capturelint.names import MODULE_BODY
from capturelint.report.standing.stand import Located
from capturelint.source import split_lines

_MISSING = "there is no such file, seen from here, the file of findings, the case or folders above"
_CHANGED = "the file has changed since: check it again"
_IN_NOTEBOOK = "it is in a notebook, which a run does not watch"


def located(findings: Sequence[Finding], folders: Sequence[Path]) -> tuple[Located, ...]:
    """Return the findings with the places where they are now.

    `folders`: of the file that told them, and of the case. Their paths may be relative to one of
    these, to the working directory, or to a folder above.
    """
    tops = _tops([Path(), *folders])
    read = cache(_read)
    return tuple(_located(finding, tops, read) for finding in findings)


def _tops(folders: Sequence[Path]) -> list[Path]:
    absolute = [Path.cwd() / folder for folder in folders]
    return list(dict.fromkeys([*absolute, *(one for top in absolute for one in top.parents)]))


def _located(
    finding: Finding, tops: Sequence[Path], read: Callable[[Path], _File | None]
) -> Located:
    if finding.cell is not None:
        return Located(finding, problem=_IN_NOTEBOOK)
    problem = _MISSING
    for path in dict.fromkeys(top / finding.path for top in tops):
        file = read(path)
        if file is None:
            continue
        span = _now(finding, file)
        if span is not None:
            return _at(finding, path, span, file.lines)
        problem = _CHANGED
    return Located(finding, problem=problem)


def _at(finding: Finding, path: Path, span: Span, lines: Sequence[str]) -> Located:
    asked = Asked(
        os.path.realpath(path),
        span.line,
        _bytes(lines, span.line, span.column),
        span.end_line,
        _bytes(lines, span.end_line, span.end_column),
    )
    return Located(replace(finding, path=shown_path(path), span=span), asked)


def _now(finding: Finding, file: _File) -> Span | None:
    """Return where a finding is in a file that has these lines; None if it is not to be told.

    Its line is where it was, or it is the only one in its function that has this text.
    """
    text, span, lines = finding.source.strip(), finding.span, file.lines
    same = [number for number, line in enumerate(lines, 1) if text and line.strip() == text]
    names = file.names if same else {}
    same = [number for number in same if _is_same(finding.function, names.get(number, ""))]
    if span.line not in same and len(same) != 1:
        return None
    number = span.line if span.line in same else same[0]
    end = number + span.end_line - span.line
    if end > len(lines):
        return None
    # Lines below the first are moved as it is.
    shift = _indent(lines[number - 1]) - _indent(finding.source)
    return Span(number, span.column + shift, end, span.end_column + shift)


def _is_same(function: str, name: str) -> bool:
    """Return whether a dotted name that may begin with a module's is that of a function in it."""
    if not function:
        return True  # it was not told
    if not name:
        return function.endswith(MODULE_BODY)
    return f".{function}".endswith(f".{name}")


def _functions(node: ast.AST, above: str) -> Iterator[tuple[str, ast.stmt]]:
    """Yield functions with their names, outer ones first."""
    for child in ast.iter_child_nodes(node):
        name = above
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{above}.{child.name}".lstrip(".")
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield name, child
        yield from _functions(child, name)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _bytes(lines: Sequence[str], line: int, column: int) -> int:
    """Return a column in bytes of UTF-8."""
    return len(lines[line - 1][:column].encode("utf-8", "surrogatepass"))


@dataclass(frozen=True)
class _File:
    lines: tuple[str, ...]

    @cached_property
    def names(self) -> dict[int, str]:
        """Return the qualified name of the innermost function around each line."""
        try:
            tree = ast.parse("\n".join(self.lines))
        except (SyntaxError, ValueError, RecursionError):
            return {}
        found: dict[int, str] = {}
        for name, node in _functions(tree, ""):
            last = node.end_lineno or node.lineno
            found.update(dict.fromkeys(range(node.lineno, last + 1), name))
        return found


def _read(path: Path) -> _File | None:
    """Return the file at `path`, or None where it cannot be read."""
    try:
        return _File(split_lines(decode(read_data(path)[0], path)))
    except (UnreadableFileError, ValueError):  # no file has a name with a zero byte
        return None
