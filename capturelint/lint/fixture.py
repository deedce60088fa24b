"""Read a fixture file: the lines it expects to be reported and the examples it shows.

A fixture is ordinary Python. Functions named `bad_*` (or classes named `Bad*`) break the rule and
`good_*` do not; the first of each is the example that `capturelint rule` prints. Those named
`missed_*` break the rule in a way it knowingly does not see. A line that must be reported ends with
`# expect: CL101 "words of the message"`.
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from capturelint.source import split_lines

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
        lines = split_lines(text)[_first_line(node) - 1 : node.end_lineno]
        return _EXPECT.sub(r"# <- \g<rule>", "\n".join(lines))
    raise LookupError(f"{path} has no function or class named {prefix}*")


def examples(text: str, prefix: str) -> list[Example]:
    """Return the top-level functions and classes of a fixture that `prefix` stands for."""
    return [
        node
        for node in ast.parse(text).body
        if isinstance(node, Example) and node.name.startswith((prefix, _class_prefix(prefix)))
    ]


def digests(text: str) -> dict[str, str]:
    """Return a digest of each top-level function and class, by name.

    It changes when the source of the example changes, or that of anything in its file that it uses
    or that makes its inputs. Comments that ask for a finding do not count.
    """
    lines = [_MARK.sub("", line).rstrip() for line in split_lines(text)]
    parts = {name: node for node in ast.parse(text).body for name in _bound(node)}
    sources = {
        name: "\n".join(lines[_first_line(node) - 1 : node.end_lineno])
        for name, node in parts.items()
    }
    return {
        name: _digest(sources[used] for used in sorted(_used(name, parts)))
        for name, node in parts.items()
        if isinstance(node, Example)
    }


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, Example):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _used(name: str, parts: Mapping[str, ast.stmt]) -> set[str]:
    """Return names of `parts` that `name` rests on, itself among them."""
    found: set[str] = set()
    waiting = [name, *(["inputs"] if "inputs" in parts else [])]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            inner = (part.id for part in ast.walk(parts[one]) if isinstance(part, ast.Name))
            waiting += [other for other in inner if other in parts]
    return found


def _digest(sources: Iterable[str]) -> str:
    return hashlib.sha256("\n\n".join(sources).encode()).hexdigest()[:16]


def _class_prefix(prefix: str) -> str:
    return prefix.removesuffix("_").capitalize()


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, Example) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _expectation(mark: str, line: int) -> Expectation:
    match = _EXPECT.fullmatch(mark.rstrip())
    if match is None:
        raise ValueError(f'line {line}: {mark!r} is not `# expect: CL101 "words"`')
    return Expectation(match["rule"], line, match["words"])
