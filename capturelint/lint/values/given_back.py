"""Calls that may return what they are given: a table that is made longer only when it is too short."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from capturelint.kind import Role
from capturelint.lint.values.frame import Frame, chain_text, raw_span


def may_give_back(frame: Frame, call: ast.expr, *, key_of: ast.expr) -> bool:
    """Return whether a live call is given what `key_of` holds, and returns an argument early.

    `self.table = self.longer(self.table, n)`, where `longer` leaves with `return table` in a branch.
    """
    if not isinstance(call, ast.Call):
        return False
    key = chain_text(key_of)
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not any(chain_text(part) == key for part in given):
        return False
    callee = frame.values.get(raw_span(call.func))
    project, entrance = frame.analysis.project, frame.analysis.entrance
    for ref in callee.refs if callee is not None else ():
        if ref.at >= 0 and ref.role in (Role.METHOD, Role.FUNCTION):
            accounts = frame.analysis.accounts
            if accounts is not None:
                # More is used of it than its own accounts tell.
                accounts.leave(ref.at)
            body = entrance.body_of(project.functions[ref.at])
            if body is not None and any(_early_arguments(body)):
                return True
    return False


def _early_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Name]:
    """Yield each `return argument` that stands in a branch."""
    names = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
    for statement in ast.walk(function):
        if isinstance(statement, ast.If):
            for inner in ast.walk(statement):
                value = inner.value if isinstance(inner, ast.Return) else None
                if isinstance(value, ast.Name) and value.id in names:
                    yield value
