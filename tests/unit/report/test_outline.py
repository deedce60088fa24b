"""Nested lines as plain text and drawn for a terminal."""

from __future__ import annotations

import re

from capturelint.report.outline import Piece, Tone, drawn, line, plain

_LINES = [
    line("head ", Piece("bad", Tone.BAD), below=[line("x[mask] = [/bold]:smile:")]),
    line(),
    line("root", below=[line("a", below=[line("b")]), line("c")], is_tree=True),
]


def test_plain_text_is_indented_by_depth_and_never_broken() -> None:
    long = line("word " * 100, below=[line("end")])

    assert plain(_LINES) == "head bad\n  x[mask] = [/bold]:smile:\n\nroot\n  a\n    b\n  c"
    assert plain([long]) == f"{('word ' * 100).rstrip()}\n  end"


def test_a_tree_is_drawn_with_guides_and_nothing_is_read_as_markup() -> None:
    assert drawn(_LINES, width=40, color=False) == (
        "head bad\n  x[mask] = [/bold]:smile:\n\nroot\n├── a\n│   └── b\n└── c"
    )


def test_colours_change_nothing_but_colours() -> None:
    colored = drawn(_LINES, width=40, color=True)

    assert "\x1b[1;31mbad\x1b[0m" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == drawn(_LINES, width=40, color=False)


def test_what_is_too_long_goes_on_below_its_start_and_is_whole() -> None:
    lines = [line("top", below=[line("one two three four five six"), line("x" * 45)])]

    shown = drawn(lines, width=20, color=False).splitlines()

    assert max(len(text) for text in shown) <= 20
    assert all(text.startswith("  ") for text in shown[1:])
    assert "".join(shown).replace(" ", "") == "toponetwothreefourfivesix" + "x" * 45


def test_wide_characters_keep_within_the_terminal() -> None:
    shown = drawn([line("日本語" * 10)], width=20, color=False).splitlines()

    assert [len(text) for text in shown] == [10, 10, 10]


def test_a_terminal_of_no_width_is_survived() -> None:
    assert drawn([line("a b")], width=0, color=False) == "a b"
