"""Where the lines of a rewritten file stood in the old one, kept from edit to edit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from capturelint.finding import Edit, Fix, Span
from capturelint.source import split_lines

# Of each line of a text, the line of the old file, counted from 1.
Origins = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """Code of a function by the lines that it had in the old file, `first` to `last`."""

    first: int
    last: int
    text: str


def origins_of(text: str) -> Origins:
    """Return where the lines of a file stand that nothing was written to."""
    return tuple(range(1, len(split_lines(text)) + 1))


def origins_after(origins: Origins, text: str, fixes: Iterable[Fix]) -> Origins:
    """Return where lines stood, once compatible fixes are made in a text; `origins`: where its own did.

    A line that is written anew stands where the code began that it replaces.
    """
    found, lines = list(origins), split_lines(text)
    edits = {edit for fix in fixes for edit in fix.edits}
    for edit in sorted(edits, key=lambda one: one.span, reverse=True):
        first, last = edit.span.line - 1, edit.span.end_line
        found[first:last] = _within(edit, lines[first:last], found[first:last])
    return tuple(found)


def piece_at(span: Span, text: str, origins: Origins) -> Piece:
    """Return the code under a span of a text with these origins."""
    return Piece(origins[span.line - 1], origins[span.end_line - 1], text)


def _within(edit: Edit, old: Sequence[str], origins: Sequence[int]) -> list[int]:
    """Return where the lines stood that an edit makes of `old`, which stood at `origins`."""
    span = edit.span
    whole = f"{old[0][: span.column]}{edit.text}{old[-1][span.end_column :]}"
    new = [line.strip() for line in whole.split("\n")]
    found = [origins[0]] * len(new)
    # An arm that is kept as it was has its own lines.
    same = SequenceMatcher(None, [line.strip() for line in old], new, autojunk=False)
    for start, at, size in same.get_matching_blocks():
        found[at : at + size] = origins[start : start + size]
    return found
