"""A condition that is asked again: what a name was on the one way and on the other."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from capturelint.kind import Value

if TYPE_CHECKING:
    from capturelint.lint.values.frame import Frame

Env = dict[str, Value]


class Ways(NamedTuple):
    """What names were after a condition. `asked`: the names in it; `ends`: after it, if true, if not."""

    asked: frozenset[str]
    ends: dict[str, tuple[Value, Value, Value]]


def note_ways(frame: Frame, test: ast.expr, ends: Sequence[Env]) -> None:
    """Remember names that are a tensor on one way of a condition only; `ends`: of its two arms."""
    found = {
        name: (value, ends[0][name], ends[1][name])
        for name, value in frame.env.items()
        if value.mixed and name in ends[0] and name in ends[1]
        if ends[0][name].mixed is not value.mixed or ends[1][name].mixed is not value.mixed
    }
    if not found:
        return
    text, outcome = _stated(test, outcome=True)
    if not outcome:
        found = {name: (value, no, yes) for name, (value, yes, no) in found.items()}
    names = frozenset(n.id for n in ast.walk(test) if isinstance(n, ast.Name))
    frame.ways[text] = Ways(names, found)


def told_apart(frame: Frame, test: ast.expr, env: Env, *, outcome: bool) -> Env:
    """Return names as they are where a condition, asked before, came out as `outcome` again."""
    text, outcome = _stated(test, outcome=outcome)
    ways = frame.ways.get(text)
    if ways is None:
        return env
    changed = {
        name: yes if outcome else no
        for name, (value, yes, no) in ways.ends.items()
        if env.get(name) == value
    }
    return {**env, **changed}


def _stated(test: ast.expr, *, outcome: bool) -> tuple[str, bool]:
    """Return the text of a condition without its `not`, and the outcome of what is left."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, outcome = test.operand, not outcome
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.IsNot):
        return ast.unparse(ast.Compare(test.left, [ast.Is()], test.comparators)), not outcome
    return ast.unparse(test), outcome
