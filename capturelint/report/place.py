"""Where a finding is, as one word of a line: path, line and column, and the cell of a notebook."""

from __future__ import annotations

from capturelint.finding import Finding, Step


def place(finding: Finding) -> str:
    """Return `path:line:column`, columns from 1; in a notebook `path:cell 3:line:column`."""
    line, column = finding.span.line, finding.span.column + 1
    return f"{_file(finding.path, finding.cell)}:{line}:{column}"


def step_place(step: Step) -> str:
    """Return `path:line` of one function of a chain, in a notebook `path:cell 3:line`."""
    return f"{_file(step.path, step.cell)}:{step.line}"


def one_line(path: str) -> str:
    """Return a path with escapes for what cannot be printed, line ends among it."""
    if path.isprintable():
        return path
    return "".join(c if c.isprintable() else _escaped(c) for c in path)


def _file(path: str, cell: int | None) -> str:
    return one_line(path) if cell is None else f"{one_line(path)}:cell {cell}"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
