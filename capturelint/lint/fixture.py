"""Read a fixture file: the lines it expects to be reported and the examples it shows.

A fixture is ordinary Python. Functions named `bad_*` (or classes named `Bad*`) break the rule and
`good_*` do not; the first of each is the example that `capturelint rule` prints. Those named
`missed_*` break the rule in a way it knowingly does not see. A line that must be reported ends with
`# expect: CL101 "words of the message"`.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Example: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_MARK = re.compile(r"#\s*expect\b[^#]*")
_EXPECT = re.compile(r'#\s*expect:\s*(?P<rule>CL\d{3})\s+"(?P<words>[^"]+)"')


@dataclass(frozen=True, slots=True)
class Expectation:
    """The finding a marked line asks for. `line` counts from 1."""

    rule: str
    line: int
    words: str


def expectations(text: str) -> list[Expectation]:
    """Return what the `# expect:` comments of a fixture ask for, in line order.

    Raises `ValueError` if a comment starts like one and cannot be read.
    """
    return [
        _expectation(mark, line)
        for line, comment in _comments(text)
        for mark in _MARK.findall(comment)
    ]


def example(path: Path, prefix: str) -> str:
    """Return the source of the first function or class whose name starts with `prefix`, unmarked.

    `bad_` also stands for classes named `Bad*`. Raises `LookupError` if the fixture has none.
    """
    text = path.read_text(encoding="utf-8")
    for node in examples(text, prefix):
        # Whole lines, because the syntax tree knows nothing of a trailing comment.
        lines = text.splitlines()[_first_line(node) - 1 : node.end_lineno]
        return _EXPECT.sub(r"# <- \g<rule>", "\n".join(lines))
    raise LookupError(f"{path} has no function or class named {prefix}*")


def examples(text: str, prefix: str) -> list[Example]:
    """Return the top-level functions and classes of a fixture that `prefix` stands for."""
    return [
        node
        for node in ast.parse(text).body
        if isinstance(node, Example) and node.name.startswith((prefix, _class_prefix(prefix)))
    ]


def _class_prefix(prefix: str) -> str:
    return prefix.removesuffix("_").capitalize()


def _first_line(node: Example) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _expectation(mark: str, line: int) -> Expectation:
    match = _EXPECT.fullmatch(mark.rstrip())
    if match is None:
        raise ValueError(f'line {line}: {mark!r} is not `# expect: CL101 "words"`')
    return Expectation(match["rule"], line, match["words"])
