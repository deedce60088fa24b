"""Whether a name of a function surely has at one place the value that it had at another."""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.bindings import binds_in
from capturelint.rewrite.site import Facts

# What is in these runs at another time than where it stands, or has names of its own.
_APART = (cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.BaseComp)


def is_given_by(
    statement: cst.SimpleStatementLine, place: cst.CSTNode, name: str, facts: Facts
) -> bool:
    """Return whether a name has at a place the value that it had right behind a statement.

    The statement has run before, in the same turn of the same loops, and nothing bound the name since.
    """
    inner = place
    for outer in facts.around(place):
        if isinstance(outer, _APART) or len(statement.body) > 1:
            return False
        if isinstance(outer, cst.IndentedBlock):
            before, _ = around_in(outer, inner)
            is_there = statement in before
            since = before[before.index(statement) + 1 :] if is_there else before
            is_bound = any(binds_in(one, name) for one in since)
            if is_there or is_bound:
                return not is_bound
        elif _binds_around(outer, name):
            return False
        inner = outer
    return False


def is_unchanged(
    statement: cst.SimpleStatementLine, place: cst.CSTNode, name: str, facts: Facts
) -> bool:
    """Return whether a name has at a place in or behind a statement the value that it had before it."""
    if any(isinstance(one, cst.Lambda | cst.BaseComp) for one in facts.around(place)):
        return False
    if statement in facts.around(place):
        return not _binds_around(statement, name)
    if len(statement.body) > 1 or binds_in(statement, name):
        return False
    return is_given_by(statement, place, name, facts) or _is_last(statement, name, facts)


def around_in(
    block: cst.IndentedBlock, node: cst.CSTNode
) -> tuple[list[cst.BaseStatement], list[cst.BaseStatement]]:
    """Return the statements of a block before one of them, and those behind it."""
    at = next(at for at, one in enumerate(block.body) if one is node)
    return list(block.body[:at]), list(block.body[at + 1 :])


def _is_last(statement: cst.SimpleStatementLine, name: str, facts: Facts) -> bool:
    """Return whether nothing that may run behind a statement binds a name."""
    inner: cst.CSTNode = statement
    for outer in facts.around(statement):
        if isinstance(outer, cst.FunctionDef):
            return True
        if isinstance(outer, cst.IndentedBlock):
            _, behind = around_in(outer, inner)
            if any(binds_in(one, name) for one in behind):
                return False
        elif isinstance(outer, cst.BaseCompoundStatement) and _binds_around(outer, name):
            return False
        inner = outer
    return False


def _binds_around(node: cst.CSTNode, name: str) -> bool:
    """Return whether a statement may bind a name before or while a part of it runs, but for its blocks of an `if`."""
    if isinstance(node, cst.If):
        return binds_in(node.test, name)
    if isinstance(node, cst.BaseCompoundStatement):
        return binds_in(node, name)
    if not isinstance(node, cst.SimpleStatementLine | cst.SimpleStatementSuite):
        return False
    if len(node.body) > 1:
        return binds_in(node, name)
    small = node.body[0]
    # Targets are bound when the value is there.
    return binds_in(small.value if isinstance(small, cst.Assign) else small, name)
