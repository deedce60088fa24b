"""The nodes below one, without leaves."""

from __future__ import annotations

import ast
from pathlib import Path

from capturelint.lint.values import walk
from capturelint.lint.values.walk import branches

_SOURCE = """
def f(x, *args, key=1, **rest):
    with a as b, c: x[1:2, None] += [y for y in z if y]
    match x:
        case {"a": 1, **more}: pass
    return f"{x!r:>{3}}" if (lambda: x) else -x
"""
_OPERATORS = (ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
_LEAVES = (ast.Name, ast.Constant, ast.expr_context, *_OPERATORS)


def test_all_nodes_but_leaves_are_walked_once() -> None:
    tree = ast.parse(_SOURCE)
    wanted = [node for node in ast.walk(tree) if not isinstance(node, _LEAVES)]

    found = list(branches(tree))

    assert len(found) == len(wanted)
    assert {*map(id, found)} == {*map(id, wanted)}


def test_a_leaf_itself_is_walked() -> None:
    (name,) = branches(ast.Name("x", ast.Load()))

    assert isinstance(name, ast.Name)


def test_of_real_code_no_branch_is_left_out() -> None:
    for path in Path(walk.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        wanted = [node for node in ast.walk(tree) if not isinstance(node, _LEAVES)]

        assert {*map(id, branches(tree))} == {*map(id, wanted)}
