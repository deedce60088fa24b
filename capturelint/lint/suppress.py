"""Comments that accept a finding: `# capturelint: ignore[CL101] reason` and `# noqa: CL101`."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from capturelint.finding import Finding, Span

# Nobody can accept that a file was not checked.
_ALWAYS_SHOWN = frozenset({"CL000", "CL001"})
_CODE = r"[A-Za-z]+[0-9]+"
_OWN = re.compile(
    r"#\s*capturelint:\s*ignore\b(?P<list>\[(?P<codes>[^\]]*)\])?:?\s*(?P<reason>[^#]*)"
)
_NOQA = re.compile(
    rf"#\s*noqa(?!\w)(?:\s*:\s*(?P<codes>{_CODE}(?:[,\s]+{_CODE})*))?", re.IGNORECASE
)
_LOOSE_CODE = re.compile(r"CL[0-9]")
_SPELLINGS = ("noqa", "NOQA", "NoQA")


def apply(
    findings: Sequence[Finding],
    text: str,
    *,
    path: str,
    require_reason: bool,
    active: frozenset[str],
) -> list[Finding]:
    """Return the findings in one file that no comment accepts, and CL002 for idle comments.

    A comment counts on the first or last line of a finding; one alone on its line covers the whole
    statement below. Only codes in `active` can be idle: the others were not looked for. Cheap for a
    text without such comments.
    """
    if not _has_comments(text, findings):
        return list(findings)
    lines = io.StringIO(text, newline=None).read().split("\n")
    comments = list(_comments(lines, text))
    left = [finding for finding in findings if not _is_accepted(finding, comments)]
    for comment in comments:
        left += comment.complaints(path, lines, active, require_reason=require_reason)
    return sorted(left, key=lambda finding: finding.sort_key)


def _has_comments(text: str, findings: Sequence[Finding]) -> bool:
    """Return whether `text` is worth reading again. An idle `noqa` is other tools' business."""
    if "capturelint:" in text:
        return True
    return bool(findings) and any(spelling in text for spelling in _SPELLINGS)


@dataclass(slots=True)
class _Comment:
    """One comment. It covers `first` to `last`; `codes` is None when it accepts every code.

    `used` collects what it has accepted so far.
    """

    span: Span
    first: int
    last: int
    codes: tuple[str, ...] | None
    reason: str
    is_own: bool
    used: set[str] = field(default_factory=set)

    def accepts(self, finding: Finding) -> bool:
        """Return whether this comment accepts a finding, and remember it."""
        span = finding.span
        if not (self.first <= span.line <= self.last or self.first <= span.end_line <= self.last):
            return False
        if self.codes is None:
            self.used.add(finding.code)
            return True
        matched = [code for code in self.codes if finding.code.startswith(code)]
        self.used.update(matched)
        return bool(matched)

    def complaints(
        self, path: str, lines: Sequence[str], active: Iterable[str], *, require_reason: bool
    ) -> Iterator[Finding]:
        """Yield what is wrong with the comment itself."""
        if not self.is_own:
            return
        for problem in self._problems(frozenset(active), require_reason=require_reason):
            source = lines[self.span.line - 1]
            yield Finding(
                "CL002", "unused-suppression", (), problem, path, self.span, source=source
            )

    def _problems(self, active: frozenset[str], *, require_reason: bool) -> Iterator[str]:
        if self.codes == ():
            yield "`capturelint: ignore` accepts nothing; write the code as `ignore[CL101]`"
            return
        if self.codes is None and not self.used:
            yield "`capturelint: ignore` accepts nothing here"
            return
        idle = [
            code
            for code in self.codes or ()
            if code not in self.used and any(known.startswith(code) for known in active)
        ]
        if idle:
            yield f"`capturelint: ignore[{', '.join(idle)}]` accepts nothing here"
        elif require_reason and not self.reason:
            yield "`capturelint: ignore` gives no reason; write it after the brackets"


def _is_accepted(finding: Finding, comments: Sequence[_Comment]) -> bool:
    if finding.code in _ALWAYS_SHOWN:
        return False
    # Every comment is asked, so that two on one finding both count as used.
    answers = [comment.accepts(finding) for comment in comments]
    return any(answers)


def _comments(lines: Sequence[str], text: str) -> Iterator[_Comment]:
    """Yield the comments that accept something. A string that looks like one is none."""
    statements: dict[int, int] | None = None
    for line, column, word in _comment_tokens(lines):
        own, noqa = _OWN.search(word), _NOQA.search(word)
        if own is not None:
            first = last = line
            if not lines[line - 1][:column].strip():
                statements = _statements(text) if statements is None else statements
                first = _next_code(lines, line)
                last = statements.get(first, first)
            span = Span(line, column + own.start(), line, column + len(word.rstrip()))
            yield _Comment(span, first, last, _own_codes(own), own["reason"].strip(), is_own=True)
        if noqa is not None:
            span = Span(line, column, line, column + len(word))
            codes = None if noqa["codes"] is None else _split(noqa["codes"])
            yield _Comment(span, line, line, codes, "", is_own=False)


def _comment_tokens(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield line, column and text of each comment, as far as the text can be read."""
    source = io.StringIO("\n".join(lines))
    try:
        for token in tokenize.generate_tokens(source.readline):
            if token.type == tokenize.COMMENT:
                yield (*token.start, token.string)
    except (tokenize.TokenError, SyntaxError):
        # The file does not parse either, which is reported as CL000.
        return


def _own_codes(match: re.Match[str]) -> tuple[str, ...] | None:
    """Return the codes in brackets, None for a comment without any, () for one written wrongly."""
    if match["list"] is not None:
        return _split(match["codes"])
    # Somebody who forgot the brackets does not mean to accept every rule.
    return () if _LOOSE_CODE.match(match["reason"]) else None


def _split(codes: str) -> tuple[str, ...]:
    return tuple(code.upper() for code in re.split(r"[,\s]+", codes) if code)


def _next_code(lines: Sequence[str], line: int) -> int:
    """Return the first line after `line` that is more than a comment."""
    after = line + 1
    while after <= len(lines) and lines[after - 1].lstrip().startswith("#"):
        after += 1
    return after


def _statements(text: str) -> dict[int, int]:
    """Return the last line of the longest statement that begins on each line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
    ends: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            decorators = getattr(node, "decorator_list", [])
            end = node.end_lineno or node.lineno
            for first in {node.lineno, *(decorator.lineno for decorator in decorators)}:
                ends[first] = max(ends.get(first, end), end)
    return ends
