"""Places in notebooks: lines of the module made of one, as cells and lines in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from capturelint.finding import Finding, Span, Step
from capturelint.lint.notebook import cell_of, is_notebook
from capturelint.lint.result import Reached, RootReport


class Cells:
    """Turns lines of notebooks' modules into cells and lines in them.

    `lines_of` returns the lines of a file by its shown path, None if it cannot be read.
    """

    def __init__(self, lines_of: Callable[[str], Sequence[str] | None]) -> None:
        self._lines_of = lines_of

    def finding(self, finding: Finding) -> Finding:
        """Return a finding with the lines, its own and those of its chain, as people count them."""
        chain = tuple(map(self.step, finding.chain))
        cell, start = self.start(finding.path, finding.span.line)
        if cell is None:
            return finding if chain == finding.chain else replace(finding, chain=chain)
        line, column, end_line, end_column = finding.span
        span = Span(line - start, column, end_line - start, end_column)
        return replace(finding, span=span, chain=chain, cell=cell)

    def step(self, step: Step) -> Step:
        """Return a step of a chain with its line counted inside its cell, if it is in one."""
        cell, start = self.start(step.path, step.line)
        return step if cell is None else replace(step, line=step.line - start, cell=cell)

    def root(self, root: RootReport) -> RootReport:
        """Return a root, and what it reaches, with lines as people count them."""
        cell, start = self.start(root.path, root.line)
        reached = tuple(map(self._reached, root.reached))
        return replace(root, line=root.line - start, reached=reached, cell=cell)

    def start(self, path: str, line: int) -> tuple[int | None, int]:
        """Return the cell that a line of a module is in, and the line of the comment before it.

        The cell is None for what is no notebook.
        """
        lines = self._lines_of(path) if is_notebook(path) else None
        for number in range(min(line, len(lines or ())), 0, -1):
            assert lines is not None, "the range would be empty"
            cell = cell_of(lines[number - 1])
            if cell is not None:
                # The place of a whole module is its first line, which is the first such comment.
                return cell, min(number, line - 1)
        return None, 0

    def _reached(self, one: Reached) -> Reached:
        cell, start = self.start(one.path, one.line)
        chain = tuple(map(self.step, one.chain))
        return replace(one, line=one.line - start, chain=chain, cell=cell)
