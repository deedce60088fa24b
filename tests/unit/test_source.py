"""Lines of a file, and functions of it parsed alone."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

import capturelint
from capturelint.lint.index import facts_of
from capturelint.names import FunctionFacts
from capturelint.source import FunctionNode, SourceFile, line_shift


def _functions(text: str) -> tuple[FunctionFacts, ...]:
    tree = ast.parse(text)
    return facts_of(tree, text, path="m.py", module="m", is_package=False).functions


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_where_python_ends_them(end: str) -> None:
    source = SourceFile.of(end.join(["a = '\x0c\x1c\u2028'", "b", ""]))

    assert source.lines == ("a = '\x0c\x1c\u2028'", "b", "")
    assert [source.line(n) for n in (0, 1, 2, 3, 4)] == ["", "a = '\x0c\x1c\u2028'", "b", "", ""]


def test_a_function_is_parsed_alone_with_its_decorators() -> None:
    text = textwrap.dedent(
        """\
        x = 1
        @wrap(
            1
        )
        def step(x):
            return x
        y = 2
        """
    )
    source = SourceFile.of(text)
    [function] = _functions(text)
    node = source.parsed(function)

    assert isinstance(node, ast.FunctionDef)
    assert ast.unparse(node) == "@wrap(1)\ndef step(x):\n    return x"
    assert node.lineno + line_shift(function) == 5
    assert node.body[0].lineno + line_shift(function) == 6


def test_an_indented_method_keeps_its_columns() -> None:
    text = textwrap.dedent(
        """\
        class Model:
            if True:
                @property
                async def width(self):
                    return 1
        """
    )
    [function] = _functions(text)
    node = SourceFile.of(text).parsed(function)

    assert isinstance(node, ast.AsyncFunctionDef)
    assert (node.lineno + line_shift(function), node.col_offset) == (4, 8)
    assert (node.body[0].lineno + line_shift(function), node.body[0].col_offset) == (5, 12)


def test_strings_over_lines_stay_whole() -> None:
    text = 'class A:\n    def f(self):\n        """one\n  two\nthree"""\n        return 1\n'
    [function] = _functions(text)
    node = SourceFile.of(text).parsed(function)

    assert node is not None
    assert ast.get_docstring(node, clean=False) == "one\n  two\nthree"


def test_a_file_that_changed_meanwhile_gives_nothing() -> None:
    [function] = _functions("def step(x):\n    return x\n")

    assert SourceFile.of("def step(x:\n    return x\n").parsed(function) is None
    assert SourceFile.of("x = 1\ny = 2\n").parsed(function) is None
    assert SourceFile.of("").parsed(function) is None


@pytest.mark.parametrize(
    "text", ["", "a", "a\nb", "a\n\nb\n", "a\r\nb\rc", "\f\fa\n\fb", "é𝄞\nb\n"]
)
def test_a_segment_is_the_lines_of_the_function_as_far_as_there_are(text: str) -> None:
    [function] = _functions("def step(x):\n    return x\n")
    source = SourceFile.of(text)
    for first in range(1, 5):
        for end in range(first, 6):
            part = replace(function, first_line=first, end_line=end)

            assert source.segment(part) == "\n".join(source.lines[first - 1 : end]) + "\n"


@pytest.mark.parametrize(
    "text",
    [
        "def f(a, b: int = 1) -> int:\n    return a\n",
        "@wrap(\n    key={'a':\n         1},\n)\ndef f(\n    a,  # of them:\n    b='x',\n) -> 'T':  # all\n    return a\n",
        "def f(a): return a[1:\n    2]\n",
        "def f(a): return {\n    'a':\n    1}\n",
        'def f(a="""b:\n"""): pass\n',
        "def f(a=lambda:\n      0): pass\n",
        "class A:\n    async def f(self, *, a: 'x:' = {1:\n        2}):\n        return 1\n",
    ],
)
def test_the_head_of_a_function_says_what_the_whole_does(text: str) -> None:
    source = SourceFile.of(text)
    [function] = _functions(text)
    head, whole = source.head(function), source.parsed(function)

    assert head is not None
    assert whole is not None
    assert type(head) is type(whole)
    assert _dumped(head) == _dumped(whole)


def test_the_heads_of_all_functions_of_a_package_are_those_of_the_whole_functions() -> None:
    pairs = []
    for path in sorted((Path(capturelint.__file__).parent / "lint").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        source = SourceFile.of(text)
        pairs += [(source.head(one), source.parsed(one)) for one in _functions(text)]

    assert len(pairs) > 500
    assert all(head and whole and _dumped(head) == _dumped(whole) for head, whole in pairs)
    without_body = [head for head, _ in pairs if head and isinstance(head.body[0], ast.Pass)]
    assert len(without_body) > 0.99 * len(pairs)


def test_a_function_that_does_not_stand_alone_has_no_head() -> None:
    [function] = _functions("def f(a):\n    return a\n")

    assert SourceFile.of("def f(\n").head(function) is None


def _dumped(node: FunctionNode) -> list[str]:
    parts = [node.args, *node.decorator_list, *([node.returns] if node.returns else [])]
    return [node.name, *(ast.dump(part, include_attributes=True) for part in parts)]
