"""The text of one file by lines, and functions of it parsed alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from capturelint.finding import Span
from capturelint.names import MODULE_BODY, FunctionFacts

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

_LINE_END = re.compile(r"\r\n|\r|\n")
_HEAD_END = re.compile(r":[ \t]*(?:#.*)?$", re.MULTILINE)


class SourceFile:
    """The lines of a file, without their ends, as Python counts them. Made by `of`.

    `feeds` counts the form feeds that were taken away before a line, by its number.
    """

    __slots__ = ("feeds", "lines")

    def __init__(self, lines: Sequence[str], feeds: Mapping[int, int]) -> None:
        self.lines = tuple(lines)
        self.feeds = feeds

    @classmethod
    def of(cls, text: str) -> SourceFile:
        """Split `text` where Python does."""
        if "\r" not in text and "\f" not in text:
            return cls(text.split("\n"), {})
        lines = split_lines(text)
        # A form feed before indentation means nothing to Python, and is an error to libcst.
        plain = tuple(line.lstrip("\f") for line in lines)
        lengths = enumerate(zip(lines, plain, strict=True), start=1)
        feeds = {n: len(a) - len(b) for n, (a, b) in lengths if len(a) > len(b)}
        return cls(plain, feeds)

    @property
    def text(self) -> str:
        """Return the file with plain line feeds."""
        return "\n".join(self.lines)

    def line(self, number: int) -> str:
        """Return a line, counted from 1; "" beyond the end."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def in_file(self, span: Span) -> Span:
        """Return a span of our lines as one of the file, where form feeds take a column each."""
        start, end = self.feeds.get(span.line, 0), self.feeds.get(span.end_line, 0)
        return Span(span.line, span.column + start, span.end_line, span.end_column + end)

    def whole_line(self, number: int) -> str:
        """Return a line as it is in the file."""
        return "\f" * self.feeds.get(number, 0) + self.line(number)

    def segment(self, function: FunctionFacts) -> str:
        """Return a function as a module of its own; see `line_shift` for its lines."""
        text = "\n".join(self.lines[function.first_line - 1 : function.end_line])
        return f"if 1:\n{text}\n" if function.column else f"{text}\n"

    def parsed(self, function: FunctionFacts) -> FunctionNode | None:
        """Return the tree of a function parsed alone, or None when it does not stand alone."""
        return _tree(self.segment(function), function)

    def head(self, function: FunctionFacts) -> FunctionNode | None:
        """Return the tree of a function without its body, or what `parsed` does.

        Parsing all of a function takes ten times as long, and of many only the signature is needed.
        """
        segment = self.segment(function)
        start = 0
        for _ in range(function.line - line_shift(function) - 1):
            start = segment.find("\n", start) + 1
        end = _HEAD_END.search(segment, start)
        if end is not None and function.name != MODULE_BODY:
            # Inside brackets or a text a line may end so too; then what is before it is no function.
            found = _tree(f"{segment[: end.start()]}: pass\n", function)
            if found is not None:
                return found
        return _tree(segment, function)


def _tree(segment: str, function: FunctionFacts) -> FunctionNode | None:
    try:
        body = ast.parse(segment).body
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
