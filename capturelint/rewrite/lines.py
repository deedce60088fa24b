"""Lines of code in place of others, with the comments that stood among those."""

from __future__ import annotations

import ast
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
    """Return the edit that puts lines in place of a branch, before them the comments that are not in them."""
    start, end = facts.span(node), facts.span(last)
    last_line = facts.source.line(end.end_line)
    indent = facts.source.line(start.line)[: start.column]
    whole = [_grouped(line) for line in lines]
    kept = {comment for line in whole for comment in _comments_in(f"{line}\n")}
    comments = [one for one in _comments(start.line, end.end_line, facts) if one not in kept]
    text = f"\n{indent}".join([*comments, *whole])
    return Edit(Span(start.line, start.column, end.end_line, len(last_line)), text)


def _grouped(line: str) -> str:
    """Return a line of code, with parentheses around its expression if that goes on without them."""
    head, sign, text = line.partition("return " if line.startswith("return ") else " = ")
    if "\n" not in line or not sign or _parses(line):
        return line
    new = f"{head}{sign}({text})"
    return new if _parses(new) else line


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _comments_in(text: str) -> list[str]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, IndentationError):
        return []
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


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
