"""Which attributes a statement sets, and of which statements it is plain that they set none."""

from __future__ import annotations

import ast

import pytest

from capturelint.bundle import bundled
from capturelint.lint.stores import foreign, sets_nothing, stored


def _kinds(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr)


def test_what_plainly_sets_nothing_sets_nothing() -> None:
    paths = sorted(bundled("fixtures").rglob("*.py"))
    trees = [ast.parse(path.read_text("utf-8")) for path in paths]
    nodes = [n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.stmt) and _kinds(n)]
    plain = [node for node in nodes if sets_nothing(node)]

    assert 0 < len(plain) < len(nodes)
    assert [ast.unparse(n) for n in plain if [*stored(n, "self"), *foreign(n, "self")]] == []


@pytest.mark.parametrize(
    "text",
    [
        "self.x = 1",
        "x, self.y = 1, 2",
        "x = self.y = 1",
        "self.x: int = 1",
        "self.x += 1",
        "self.xs.append(x)",
        "self.x.add_(1)",
        "self.register_buffer('x', y)",
        "setattr(self, 'x', 1)",
        "global x",
    ],
)
def test_what_may_set_something_is_looked_into(text: str) -> None:
    assert not sets_nothing(ast.parse(text).body[0])
