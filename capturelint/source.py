"""The text of one file by lines, and functions of it parsed alone."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from capturelint.names import MODULE_BODY, FunctionFacts

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The lines of a file, without their ends, as Python counts them."""

    lines: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> SourceFile:
        """Split `text` where Python does."""
        # A form feed before indentation means nothing to Python, and is an error to libcst.
        return cls(tuple(line.lstrip("\f") for line in split_lines(text)))

    def line(self, number: int) -> str:
        """Return a line, counted from 1; "" beyond the end."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def segment(self, function: FunctionFacts) -> str:
        """Return a function as a module of its own; see `line_shift` for its lines."""
        text = "\n".join(self.lines[function.first_line - 1 : function.end_line]) + "\n"
        return "if 1:\n" + text if function.column else text

    def parsed(self, function: FunctionFacts) -> FunctionNode | None:
        """Return the tree of a function parsed alone, or None when it does not stand alone."""
        try:
            body = ast.parse(self.segment(function)).body
            if function.name == MODULE_BODY:
                return _as_function(body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        node = body[0] if body else None
        if function.column and isinstance(node, ast.If):
            node = node.body[0]
        return node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else None


def split_lines(text: str) -> tuple[str, ...]:
    """Return the lines of `text`, without their ends, where Python ends them."""
    if "\r" not in text:
        return tuple(text.split("\n"))
    return tuple(_LINE_END.split(text))


def line_shift(function: FunctionFacts) -> int:
    """Return what to add to a line of a function's segment to get the line in its file."""
    return function.first_line - (2 if function.column else 1)


def column_of(line: str, offset: int) -> int:
    """Return the column, in characters, of an offset into a line in UTF-8 bytes."""
    if line.isascii():
        return offset
    return len(line.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore"))


def _as_function(body: list[ast.stmt]) -> ast.FunctionDef:
    """Return the statements of a module as a function without parameters."""
    empty = ast.parse("def module(): pass").body[0]
    assert isinstance(empty, ast.FunctionDef), "the text says so"
    empty.body = body
    return empty
