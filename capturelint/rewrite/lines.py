"""Lines of code in place of others, with the comments that stood among those."""

from __future__ import annotations

import io
import re
import tokenize

import libcst as cst

from capturelint.finding import Edit, Span
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.site import Facts

_WIDTH = 100


def inlined(lines: list[str]) -> list[str]:
    """Return lines, with names that the last line alone reads replaced by their text if short."""
    *before, last = lines
    kept: list[str] = []
    for at, line in enumerate(before):
        name, _, text = line.partition(" = ")
        word = re.compile(rf"\b{name}\b")
        is_read_before = any(word.search(other) for other in before[at + 1 :])
        new = word.sub(text.replace("\\", r"\\"), last)
        if is_read_before or len(word.findall(last)) != 1 or len(new) > _WIDTH or "\n" in new:
            kept.append(line)
        else:
            last = new
    return [*kept, last]


def ungrouped(text: str) -> str:
    """Return the text of an expression without parentheses around all of it."""
    depth = 0
    for at, one in enumerate(text):
        depth += (one == "(") - (one == ")")
        if depth == 0 and at < len(text) - 1:
            return text
    return text[1:-1] if text.startswith("(") else text


def edit_of(node: cst.CSTNode, last: cst.CSTNode, lines: list[str], facts: Observed) -> Edit:
    """Return the edit that puts lines in place of a branch, its comments before them."""
    start, end = facts.span(node), facts.span(last)
    last_line = facts.source.line(end.end_line)
    indent = facts.source.line(start.line)[: start.column]
    comments = _comments(start.line, end.end_line, facts)
    text = f"\n{indent}".join([*comments, *lines])
    return Edit(Span(start.line, start.column, end.end_line, len(last_line)), text)


def _comments(first: int, last: int, facts: Observed) -> list[str]:
    text = "\n".join(facts.source.lines)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [
        token.string
        for token in tokens
        if token.type == tokenize.COMMENT and first <= token.start[0] <= last
    ]


def lines_in_strings(node: cst.CSTNode, facts: Facts) -> set[int]:
    """Return the lines that begin inside of a string, where an indent would be text."""
    found: set[int] = set()
    level: list[cst.CSTNode] = [node]
    while level:
        one = level.pop()
        if isinstance(one, cst.SimpleString | cst.FormattedString):
            span = facts.span(one)
            found.update(range(span.line + 1, span.end_line + 1))
        level.extend(one.children)
    return found
