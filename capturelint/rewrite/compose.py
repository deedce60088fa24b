"""Edits of one file: which of them can be made together, and the text they give."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from capturelint.finding import Edit, Fix

_LINE_END = re.compile(r"\r\n|\r|\n")


def compatible(fixes: Iterable[Fix]) -> list[Fix]:
    """Return the fixes that can be made together: of two that overlap, the earlier in the file.

    Equal edits, such as one import that two fixes need, are one edit.
    """
    chosen: list[Fix] = []
    edits: list[Edit] = []
    for fix in sorted(fixes, key=lambda one: min(edit.span for edit in one.edits)):
        new = [edit for edit in fix.edits if edit not in edits]
        if not any(_overlap(one, other) for one in new for other in edits):
            edits += new
            chosen.append(fix)
    return chosen


def applied(text: str, fixes: Iterable[Fix]) -> str:
    """Return the text of a file after compatible fixes; new lines end as its first line does."""
    ends = [match.end() for match in _LINE_END.finditer(text)]
    starts = [0, *ends]
    first = _LINE_END.search(text)
    newline = first.group() if first else "\n"
    edits = {edit for fix in fixes for edit in fix.edits}
    for edit in sorted(edits, key=lambda one: one.span, reverse=True):
        start = starts[edit.span.line - 1] + edit.span.column
        end = starts[edit.span.end_line - 1] + edit.span.end_column
        new = newline.join(edit.text.split("\n"))
        text = text[:start] + new + text[end:]
    return text


def unified_diff(old: str, new: str, path: str) -> str:
    """Return the change of one file as a patch that `git apply` and `patch -p1` take; "" for none.

    `path` is relative, with forward slashes.
    """
    lines = difflib.unified_diff(_lines(old), _lines(new), f"a/{path}", f"b/{path}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(text: str) -> Sequence[str]:
    """Return lines with their ends, split where git splits."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _overlap(one: Edit, other: Edit) -> bool:
    start, end = _bounds(one)
    other_start, other_end = _bounds(other)
    return start == other_start or (start < other_end and other_start < end)


def _bounds(edit: Edit) -> tuple[tuple[int, int], tuple[int, int]]:
    span = edit.span
    return (span.line, span.column), (span.end_line, span.end_column)
