"""A source line and its carets, in the columns of a terminal."""

from __future__ import annotations

import pytest

from capturelint.report.excerpt import excerpt


@pytest.mark.parametrize(
    ("source", "start", "end", "text", "carets"),
    [
        ("n = x.item()", 4, 12, "n = x.item()", "    ^^^^^^^^"),
        ("        n = x.item()\n", 12, 20, "n = x.item()", "    ^^^^^^^^"),
        ("\tn = x.item()", 5, 13, "n = x.item()", "    ^^^^^^^^"),
        ("n\t= x.item()", 4, 12, "n   = x.item()", "      ^^^^^^^^"),
        ("a\t\tb", 2, 3, "a       b", "    ^^^^"),
        ("s = 'é' + x.item()", 10, 18, "s = 'é' + x.item()", "          ^^^^^^^^"),
        ("s = '日本', x.item()", 10, 18, "s = '日本', x.item()", "            ^^^^^^^^"),
        ("s = '日本'", 5, 7, "s = '日本'", "     ^^^^"),
        ("s = 'e\u0301', x", 10, 11, "s = 'e\u0301', x", "         ^"),
        ("if x:  # to the end", 3, None, "if x:  # to the end", "   ^^^^^^^^^^^^^^^^"),
        ("f(x)", 4, 4, "f(x)", "    ^"),
        ("f(x)", 90, 95, "f(x)", "    ^"),
        ("    f(x)", 0, 8, "    f(x)", "^^^^^^^^"),
        ("a = '\x1b[31m\u202e'", 12, 13, "a = '\ufffd[31m\ufffd'", "            ^"),
        ("", 0, 1, "", "^"),
    ],
)
def test_carets_stand_under_what_they_mean(
    source: str, start: int, end: int | None, text: str, carets: str
) -> None:
    assert excerpt(source, start, end) == (text, carets)


def test_a_long_line_is_cut_around_the_carets() -> None:
    source = "x = [" + "1, " * 1000 + "t.item()" + ", 2" * 1000

    text, carets = excerpt(source, source.index("t.item"), source.index("t.item") + 8)

    start = carets.index("^")
    assert text.startswith("… ")
    assert text.endswith(" …")
    assert text[start : len(carets)] == "t.item()"
    assert len(text) == 164


def test_the_end_of_a_long_line_is_shown_to_its_end() -> None:
    source = "x" * 500 + ".item()"

    text, carets = excerpt(source, 500, 507)

    assert text == "… " + "x" * 153 + ".item()"
    assert carets == " " * 155 + "^" * 7
