"""A report as nested lines, as plain text for pipes or drawn for a terminal of some width."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

_INDENT = "  "


class Tone(Enum):
    """How a piece of text looks on a terminal with colours, as a style of rich."""

    PLAIN = ""
    STRONG = "bold"
    GOOD = "green"
    BAD = "bold red"
    LOUD = "bold yellow"
    DIM = "dim"


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a line in one tone. `text`: printable, without line ends."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Line:
    """One line and those that belong below it. `is_tree`: guides lead to them on a terminal."""

    pieces: tuple[Piece, ...]
    below: tuple[Line, ...] = ()
    is_tree: bool = False


def line(*pieces: Piece | str, below: Sequence[Line] = (), is_tree: bool = False) -> Line:
    """Return a line of pieces; text alone is plain."""
    parts = tuple(Piece(piece) if isinstance(piece, str) else piece for piece in pieces)
    return Line(parts, tuple(below), is_tree)


def plain(lines: Sequence[Line]) -> str:
    """Return lines as text without colours, each on one line however long, indented by depth."""
    return "\n".join(_plain(lines, ""))


def drawn(lines: Sequence[Line], *, width: int, color: bool) -> str:
    """Return lines for a terminal of `width` columns; what is longer goes on below its start."""
    from rich.console import Console
    from rich.padding import Padding

    stream = io.StringIO()
    console = Console(
        file=stream,
        width=max(width, 20),
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for depth, one in _flat(lines, 0):
        if not one.pieces:
            console.print()
            continue
        shown = _tree(one) if one.is_tree else _text(one)
        console.print(Padding(shown, (0, 0, 0, len(_INDENT) * depth), expand=False))
    return "\n".join(text.rstrip() for text in stream.getvalue().splitlines())


def _plain(lines: Sequence[Line], indent: str) -> Iterator[str]:
    for one in lines:
        yield (indent + "".join(piece.text for piece in one.pieces)).rstrip()
        yield from _plain(one.below, indent + _INDENT)


def _flat(lines: Sequence[Line], depth: int) -> Iterator[tuple[int, Line]]:
    """Return each line with its depth; what is below a tree's root stays with it."""
    for one in lines:
        yield depth, one
        if not one.is_tree:
            yield from _flat(one.below, depth + 1)


def _tree(one: Line) -> Tree:
    from rich.tree import Tree

    root = Tree(_text(one), guide_style="dim")
    for child in one.below:
        root.children.append(_tree(child))
    return root


def _text(one: Line) -> Text:
    # Built from pieces, never parsed: a source line may look like rich's markup.
    from rich.text import Text

    text = Text(overflow="fold")
    for piece in one.pieces:
        text.append(piece.text, style=piece.tone.value)
    return text
