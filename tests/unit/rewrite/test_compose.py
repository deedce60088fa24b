"""Edits that are made together, and the patches they show as."""

from __future__ import annotations

import pytest

from capturelint.finding import Edit, Fix, Span
from capturelint.rewrite.compose import applied, compatible, unified_diff


def _fix(line: int, start: int, end: int, text: str) -> Fix:
    return Fix("proven", (Edit(Span(line, start, line, end), text),))


def test_of_two_overlapping_fixes_the_earlier_wins() -> None:
    outer, inner, apart = _fix(1, 0, 6, "a"), _fix(1, 2, 4, "b"), _fix(1, 6, 8, "c")

    assert compatible([inner, apart, outer]) == [outer, apart]


def test_an_edit_that_two_fixes_share_is_made_once() -> None:
    shared = Edit(Span(1, 0, 1, 0), "import torch\n")
    one = Fix("proven", (shared, Edit(Span(2, 0, 2, 1), "a")))
    two = Fix("proven", (shared, Edit(Span(2, 2, 2, 3), "b")))

    assert compatible([one, two]) == [one, two]
    assert applied("x\n1 2\n", [one, two]) == "import torch\nx\na b\n"


def test_a_fix_is_made_whole_or_not_at_all() -> None:
    both = Fix("proven", (Edit(Span(1, 0, 1, 1), "a"), Edit(Span(2, 0, 2, 1), "b")))

    assert compatible([_fix(1, 0, 3, "c"), both]) in ([both], [_fix(1, 0, 3, "c")])
    assert compatible([_fix(2, 0, 1, "c"), both]) == [both]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_new_lines_end_as_the_file_does(end: str) -> None:
    text = end.join(["é = 1", "y = 2", ""])

    assert applied(text, [_fix(2, 4, 5, "3\n")]) == end.join(["é = 1", "y = 3", "", ""])


def test_a_patch_names_the_file_and_a_missing_line_end() -> None:
    assert unified_diff("a\r\nb", "a\r\nc", "pkg/m.py") == (
        "--- a/pkg/m.py\n+++ b/pkg/m.py\n@@ -1,2 +1,2 @@\n a\r\n-b\n"
        "\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )
    assert unified_diff("a\n", "a\n", "m.py") == ""
