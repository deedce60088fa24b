"""Where lines stood before they were rewritten."""

from __future__ import annotations

import random

import pytest

from capturelint.finding import Edit, Fix, Span
from capturelint.rewrite.compose import applied
from capturelint.rewrite.origins import Piece, origins_after, origins_of, piece_at
from capturelint.source import split_lines

TEXT = "if a:\n    b\nelse:\n    c\nif a:\n    d\n"


def _fix(*edits: tuple[int, int, int, int, str]) -> Fix:
    return Fix("proven", tuple(Edit(Span(*span), text) for *span, text in edits))


@pytest.mark.parametrize(
    ("edit", "lines"),
    [
        ((1, 0, 1, 0, "import torch\n"), (1, 1, 2, 3, 4, 5, 6, 7)),
        ((1, 3, 1, 4, "b"), (1, 2, 3, 4, 5, 6, 7)),
        ((1, 0, 4, 5, "x = where(a, b, c)"), (1, 5, 6, 7)),
        ((1, 0, 4, 5, "x = 1\ny = 2"), (1, 1, 5, 6, 7)),
        ((1, 0, 4, 5, "x = 1\nb\ny\n  c"), (1, 2, 1, 4, 5, 6, 7)),
        ((6, 5, 6, 5, "\n    e"), (1, 2, 3, 4, 5, 6, 6, 7)),
        ((5, 0, 7, 0, ""), (1, 2, 3, 4, 7)),
    ],
)
def test_a_new_line_stands_where_what_it_replaces_began(
    edit: tuple[int, int, int, int, str], lines: tuple[int, ...]
) -> None:
    assert origins_after(origins_of(TEXT), TEXT, [_fix(edit)]) == lines


def test_lines_are_kept_from_edit_to_edit() -> None:
    first = _fix((1, 0, 4, 5, "x = 1"))
    once = origins_after(origins_of(TEXT), TEXT, [first])
    twice = origins_after(once, applied(TEXT, [first]), [_fix((1, 0, 1, 0, "import torch\n"))])

    assert twice == (1, 1, 5, 6, 7)
    assert piece_at(Span(3, 0, 4, 5), "if a:\n    d", twice) == Piece(5, 6, "if a:\n    d")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_each_line_of_any_text_stands_somewhere(end: str) -> None:
    rng = random.Random(7)
    for _ in range(200):
        text = "".join(rng.choice(["a b", "\x0c", "\u2028c", end]) for _ in range(30))
        lines = split_lines(text)
        edits = []
        for number in sorted(rng.sample(range(len(lines)), min(3, len(lines)))):
            column = rng.randint(0, len(lines[number]))
            span = (number + 1, column, number + 1, len(lines[number]))
            edits.append((*span, rng.choice(["", "x", "x\ny", "\nx\n"])))
        new = applied(text, [_fix(*edits)])
        origins = origins_after(origins_of(text), text, [_fix(*edits)])

        assert len(origins) == len(split_lines(new))
        assert list(origins) == sorted(origins)
