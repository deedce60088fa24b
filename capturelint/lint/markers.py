"""Comments that say of a function or class that it is captured, never is, or runs each step."""

from __future__ import annotations

import ast
import re
from itertools import chain

from capturelint.lint.directives import MARKS, names_us
from capturelint.source import split_lines

_MARKER = re.compile(rf"#\s*(?i:capturelint):\s*({'|'.join(MARKS)})(?![\w-])")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Markers:
    """The marks in one file: `# capturelint: captured`, `eager` and `step`."""

    def __init__(self, text: str) -> None:
        self._by_line: dict[int, str] = {}
        if not names_us(text):
            return
        self._lines = split_lines(text)
        for number, line in enumerate(self._lines, start=1):
            match = _MARKER.search(line)
            if match:
                self._by_line[number] = match[1]

    def of(self, node: Definition) -> str:
        """Return the mark above a definition, or on its lines before the body; "" for none."""
        return self._by_line.get(self.line_of(node), "")

    def line_of(self, node: Definition) -> int:
        """Return the line of a definition's mark, 0 for none.

        Blank lines, other comments and decorators may stand between the mark and the definition.
        """
        if not self._by_line:
            return 0
        first = _first_line(node)
        above = range(first - 1, self._top_of_comments(first) - 1, -1)
        inside = range(first, max(self._end_of_head(node), node.lineno + 1))
        for line in chain(above, inside):
            # A comment that is indented more ends the block above.
            if line in self._by_line and (line >= first or self._indent(line) <= node.col_offset):
                return line
        return 0

    def _end_of_head(self, node: Definition) -> int:
        """Return the line after the last that belongs to the head of a definition."""
        body = node.body[0]
        if isinstance(body, Definition):
            # What stands above the first method speaks of the method.
            return self._top_of_comments(_first_line(body))
        return body.lineno

    def _top_of_comments(self, line: int) -> int:
        """Return the first of the blank lines and comments that end above `line`, else `line`."""
        while line > 1 and self._lines[line - 2].lstrip()[:1] in ("", "#"):
            line -= 1
        return line

    def _indent(self, line: int) -> int:
        text = self._lines[line - 1]
        return len(text) - len(text.lstrip())


def _first_line(node: Definition) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
