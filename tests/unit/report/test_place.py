"""Places of findings on one line, whatever the path holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from capturelint.finding import Step
from capturelint.report.place import one_line, place, step_place
from tests.unit.report.findings import IN_CELL, READ


def test_columns_count_from_one_and_a_cell_is_named() -> None:
    assert place(READ) == "pkg/model.py:12:13"
    assert place(IN_CELL) == "nb.ipynb:cell 3:2:5"
    assert step_place(Step("a.py", 4, "f")) == "a.py:4"
    assert step_place(Step("nb.ipynb", 4, "f", 2)) == "nb.ipynb:cell 2:4"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("a b:c.py", "a b:c.py"),
        ("é😀.py", "é😀.py"),
        ("a\nb.py", "a\\nb.py"),
        ("a\x1b[2Jb.py", "a\\x1b[2Jb.py"),
        ("a\u2028b.py", "a\\u2028b.py"),
        ("\udce9.py", "\\udce9.py"),
    ],
)
def test_a_path_stays_on_one_line(path: str, shown: str) -> None:
    assert one_line(path) == shown
    assert place(replace(READ, path=path)) == f"{shown}:12:13"
