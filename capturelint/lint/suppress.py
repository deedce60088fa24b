"""Comments that accept a finding: `# capturelint: ignore[CL101] reason` and `# noqa: CL101`."""

from __future__ import annotations

import ast
import io
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence

from capturelint.finding import Finding, Span
from capturelint.lint.accepting import Comment
from capturelint.lint.codes import IDLE, OWN
from capturelint.lint.directives import (
    IGNORE,
    NOQA,
    Directive,
    comment_tokens,
    complaint,
    directives_in,
    has_comments,
)
from capturelint.lint.markers import Definition, Markers
from capturelint.lint.registry import builtin_rules, names_of

# Nobody can accept that a file was not checked.
_ALWAYS_SHOWN = frozenset({"CL000", "CL001"})
_CODE = r"[A-Za-z]+[0-9]+"
_LIST = re.compile(r"\s*\[(?P<codes>[^\]]*)\]:?(?P<reason>.*)")
_NOQA = re.compile(
    rf"(?<![`'\"])#\s*noqa(?!\w)(?:\s*:\s*(?P<codes>{_CODE}(?:[,\s]+{_CODE})*))?", re.IGNORECASE
)
_LOOSE_CODE = re.compile(r"\W*CL[0-9]", re.IGNORECASE)
_LOOSE_NAME = re.compile(r"\W*([\w-]+)")
_SPELLINGS = ("noqa", "NOQA", "NoQA")
# A text without any of these, in lower case, accepts nothing.
WORDS = ("capturelint:", "noqa")


def apply(
    findings: Sequence[Finding],
    text: str,
    *,
    path: str,
    require_reason: bool,
    active: frozenset[str],
    known: Mapping[str, str] | None = None,
    passed_over: Callable[[int], bool] | None = None,
) -> list[Finding]:
    """Return the findings in one file that no comment accepts, and CL002 for idle comments.

    A comment counts on the first or last line of a finding, and behind the last line of a statement
    or of brackets for all of these; one alone on its line covers the whole statement below. Only
    codes in `active` can be idle: the others were not looked for, and none was on lines that were
    `passed_over`. `known` are the names of all rules by their codes, None for the built-in ones and
    `active`. Cheap for a text without such comments.
    """
    has_noqa = findings and any(spelling in text for spelling in _SPELLINGS)
    if not has_noqa and not has_comments(text):
        return list(findings)
    lines = io.StringIO(text, newline=None).read().split("\n")
    tree = _Tree(text)
    if known is None:
        known = names_of(builtin_rules())
    codes = {**dict.fromkeys(active, ""), **known, **{one.code: one.name for one in OWN}}
    comments, directives = _read(lines, tree, {name: code for code, name in codes.items()})
    left = [finding for finding in findings if not _is_accepted(finding, comments)]
    said = [
        (comment.span, problem)
        for comment in comments
        for problem in comment.problems(
            frozenset() if passed_over is not None and passed_over(comment.first) else active,
            codes,
            require_reason=require_reason,
        )
    ]
    marking = tree.marking() if directives else frozenset()
    said += [(one.span, complaint(one, marking)) for one in directives]
    left += [_idle(span, problem, path, lines) for span, problem in said if problem]
    return sorted(left, key=lambda finding: finding.sort_key)


class _Tree:
    """The syntax of a text, parsed when it is first asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._nodes: tuple[ast.AST, ...] | None = None
        self._ends: dict[int, int] | None = None

    def end_of(self, line: int) -> int:
        """Return the last line of the longest statement that begins on a line, else the line."""
        if self._ends is None:
            self._ends = _ends(self._all())
        return self._ends.get(line, line)

    def marking(self) -> frozenset[int]:
        """Return the lines of comments that mark a function or class."""
        markers = Markers(self._text)
        return frozenset(markers.line_of(n) for n in self._all() if isinstance(n, Definition))

    def _all(self) -> tuple[ast.AST, ...]:
        if self._nodes is None:
            self._nodes = _nodes(self._text)
        return self._nodes


def _idle(span: Span, problem: str, path: str, lines: Sequence[str]) -> Finding:
    return Finding(IDLE.code, IDLE.name, (), problem, path, span, source=lines[span.line - 1])


def _is_accepted(finding: Finding, comments: Sequence[Comment]) -> bool:
    if finding.code in _ALWAYS_SHOWN:
        return False
    # Every comment is asked, so that two on one finding both count as used.
    answers = [comment.accepts(finding) for comment in comments]
    return any(answers)


def _read(
    lines: Sequence[str], tree: _Tree, by_name: Mapping[str, str]
) -> tuple[list[Comment], list[Directive]]:
    """Return the comments that accept something, and all other words to capturelint."""
    comments: list[Comment] = []
    others: list[Directive] = []
    for token in comment_tokens(lines):
        line, column, text = token.line, token.column, token.text
        is_alone = not lines[line - 1][:column].strip()
        for directive in directives_in(text, line, column, is_alone=is_alone):
            if directive.word == IGNORE:
                first, last = token.first, line
                if is_alone:
                    first = _next_code(lines, line)
                    last = tree.end_of(first)
                comments.append(_accepting(directive, first, last, by_name))
            else:
                others.append(directive)
        noqa = _NOQA.search(text)
        if noqa is not None:
            span = Span(line, column, line, column + len(text))
            codes = None if noqa["codes"] is None else _split(noqa["codes"], by_name)
            comments.append(Comment(span, token.first, line, codes, "", NOQA))
    return comments, others


def _accepting(directive: Directive, first: int, last: int, by_name: Mapping[str, str]) -> Comment:
    """Return what `# capturelint: ignore` accepts on the lines that it covers."""
    codes: dict[str, str] | None = None
    reason = directive.rest
    listed = _LIST.match(reason)
    word = _LOOSE_NAME.match(reason)
    if listed is not None:
        codes, reason = _split(listed["codes"], by_name), listed["reason"]
    elif _LOOSE_CODE.match(reason) or (word is not None and word[1].lower() in by_name):
        # Somebody who forgot the brackets does not mean to accept every rule.
        codes = {}
    return Comment(directive.span, first, last, codes, reason.strip(" :"), IGNORE)


def _split(codes: str, by_name: Mapping[str, str]) -> dict[str, str]:
    """Return the codes that a list means, by the words in it: beginnings of codes, or names."""
    words = [word for word in re.split(r"[,\s]+", codes) if word]
    return {word: by_name.get(word.lower(), word.upper()) for word in words}


def _next_code(lines: Sequence[str], line: int) -> int:
    """Return the first line after `line` that is more than a comment."""
    after = line + 1
    while after <= len(lines) and lines[after - 1].lstrip().startswith("#"):
        after += 1
    return after


def _nodes(text: str) -> tuple[ast.AST, ...]:
    """Return every node of the syntax tree of `text`, none if it cannot be parsed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return tuple(ast.walk(ast.parse(text)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ()


def _ends(nodes: Iterable[ast.AST]) -> dict[int, int]:
    """Return the last line of the longest statement that begins on each line."""
    ends: dict[int, int] = {}
    for node in nodes:
        if isinstance(node, ast.stmt):
            decorators = getattr(node, "decorator_list", [])
            end = node.end_lineno or node.lineno
            for first in {node.lineno, *(decorator.lineno for decorator in decorators)}:
                ends[first] = max(ends.get(first, end), end)
    return ends
