"""A line of source with carets under a part of it, as a terminal shows it."""

from __future__ import annotations

import unicodedata

_TAB = 4
_WIDEST = 160


def excerpt(source: str, start: int, end: int | None) -> tuple[str, str]:
    """Return `source` without its indentation, and carets under its columns `start` to `end`.

    Columns count from 0 in characters; None for `end` means to the end of the line. Tabs become
    spaces, what cannot be printed becomes a replacement character, and a long line is cut around
    the carets.
    """
    source = source.rstrip()
    end = len(source) if end is None else min(end, len(source))
    start = min(start, len(source))
    indent = min(len(source) - len(source.lstrip()), start)
    cells = _cells(source[indent:])
    start, end = start - indent, end - indent
    first, last = _window(cells, start)
    shown, before = "".join(cells[first:last]), "".join(cells[first:start])
    marked = "".join(cells[start : min(end, last)])
    offset = 2 if first else 0
    text = f"{'… ' if first else ''}{shown}{' …' if last < len(cells) else ''}"
    return text, " " * (offset + _width(before)) + "^" * max(_width(marked), 1)


def printable(text: str) -> str:
    """Return `text` on one line, without what could move the cursor or change colours."""
    return "".join(_cells(" ".join(text.split())))


def _cells(text: str) -> list[str]:
    """Return what is shown for each character."""
    cells: list[str] = []
    column = 0
    for character in text:
        if character == "\t":
            shown = " " * (_TAB - column % _TAB)
        elif character.isprintable() or unicodedata.category(character) == "Zs":
            shown = character
        else:
            # Such a character could move the cursor or change what stands elsewhere.
            shown = "\N{REPLACEMENT CHARACTER}"
        cells.append(shown)
        column += _width(shown)
    return cells


def _window(cells: list[str], start: int) -> tuple[int, int]:
    """Return which characters to show so that the one at `start` is among them."""
    if len(cells) <= _WIDEST:
        return 0, len(cells)
    first = max(0, min(start - _WIDEST // 4, len(cells) - _WIDEST))
    return first, first + _WIDEST


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
