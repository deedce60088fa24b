"""Cells without what only IPython understands, line for line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capturelint.lint.magics import without_magics
from capturelint.source import split_lines


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("!pip install torch\nx = 1", "pass\nx = 1"),
        ("if x:\n    %time f()\ny = 2", "if x:\n    pass\ny = 2"),
        ("files = !ls\nx = 1", "pass\nx = 1"),
        ("t = %timeit -o f()\nx = 1", "pass\nx = 1"),
        ("a, b[0] = !ls\nx = 1", "pass\nx = 1"),
        ("torch.add?\n?torch\ntorch.*d??\n%time?", "pass\npass\npass\npass"),
        ("!pip install \\\n  torch \\\n  timm\nx = 1", "pass\n\n\nx = 1"),
        ("%time f()  # a 'quote\nx = 1", "pass\nx = 1"),
    ],
)
def test_a_magic_becomes_a_pass(cell: str, code: str) -> None:
    assert "\n".join(without_magics(cell)) == code


@pytest.mark.parametrize("name", ["bash", "html", "writefile x.py", "javascript", "", "R"])
def test_a_cell_in_another_language_is_blank(name: str) -> None:
    assert without_magics(f"\n%%{name}\nx.item()\ny") == ("", "", "", "")


@pytest.mark.parametrize("name", ["time", "timeit -n 3 setup()", "capture out", "prun"])
def test_a_cell_magic_over_python_costs_its_own_line_only(name: str) -> None:
    assert without_magics(f"%%{name}\nx.item()\n!ls") == ("", "x.item()", "pass")


@pytest.mark.parametrize(
    "cell",
    [
        "x = (a\n% b)\n",
        "text = '''\n%d\n!x\n'''\n",
        'text = """a \\""" \n%d"""',
        "x = a \\\n% b",
        "f('#', \"(\")\n",
        "x = {\n  1: [\n(2)\n]}  # )\n",
        "# why?\nx = 1  # is it?\n",
    ],
)
def test_python_stays_as_it_is_also_beside_a_magic(cell: str) -> None:
    assert "\n".join(without_magics(cell)) == cell
    assert "\n".join(without_magics(f"{cell}\n%time x\n")) == f"{cell}\npass\n"


_PIECES = (
    *("%", "!", "?", "x", "'", '"', '"""', "'''", "(", ")", "[", "#", "\\", "=", ":", "}", "😀"),
    *("\n", "\r\n", "\r", "\f", "\t", "    ", "if x:", "%%bash", "%%time", "def f():", "f'{"),
)


@given(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join))
def test_whatever_a_cell_holds_it_keeps_its_lines(cell: str) -> None:
    assert len(without_magics(cell)) == len(split_lines(cell))


def test_no_line_is_lost_whatever_the_line_ends() -> None:
    assert without_magics("%time x\r\ny = 1\r\n") == ("pass", "y = 1", "")
    assert without_magics("") == ("",)


def test_code_that_nobody_understands_is_left_to_the_parser() -> None:
    assert without_magics("def f(:\n    pass\n%time x") == ("def f(:", "    pass", "%time x")
    assert without_magics("def f(x)\n%time x") == ("def f(x)", "pass")
