"""Comments that say of a function or class that it is captured, or never is."""

from __future__ import annotations

import ast
import re

from capturelint.source import split_lines

_MARKER = re.compile(r"#\s*capturelint:\s*(captured|eager)\b")


class Markers:
    """The marks in one file: `# capturelint: captured` and `# capturelint: eager`."""

    def __init__(self, text: str) -> None:
        self._by_line: dict[int, str] = {}
        if "capturelint:" not in text:
            return
        for number, line in enumerate(split_lines(text), start=1):
            match = _MARKER.search(line)
            if match:
                self._by_line[number] = match[1]

    def of(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
        """Return the mark above a definition, or on its lines before the body; "" for none."""
        if not self._by_line:
            return ""
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        for line in range(first - 1, max(node.body[0].lineno, node.lineno + 1)):
            if line in self._by_line:
                return self._by_line[line]
        return ""
