"""Whether an attribute of a value can be read at an earlier place too, where the value may be None."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from capturelint.rewrite.lasting import around_in, is_unchanged
from capturelint.rewrite.site import Facts

_LEAVING = (cst.Return, cst.Raise, cst.Break, cst.Continue, cst.Assert, cst.Yield)
_CHOOSING = (cst.IfExp, cst.BooleanOperation, cst.Lambda, cst.BaseComp)


def may_read_before(
    owner: str, statement: cst.SimpleStatementLine, place: cst.CSTNode, facts: Facts
) -> bool:
    """Return whether a statement may read an attribute of what a place behind it reads one of.

    The place runs whenever the statement has run, or an attribute was read before it. `owner`: the text
    of what is read from, a name or an attribute of one.
    """
    root = owner.partition(".")[0]
    return _runs_behind(statement, place, facts) or any(
        one is statement or is_unchanged(one, statement, root, facts)
        for one in _before(statement, facts)
        if _reads_from(one, owner, facts)
    )


def _runs_behind(statement: cst.SimpleStatementLine, place: cst.CSTNode, facts: Facts) -> bool:
    inner = place
    for outer in facts.around(place):
        if outer is statement:
            return True
        if isinstance(outer, cst.IndentedBlock):
            before, _ = around_in(outer, inner)
            is_there = statement in before
            since = before[before.index(statement) + 1 :] if is_there else before
            if is_there or any(_leaves(one) for one in since):
                return is_there and not any(_leaves(one) for one in since)
        elif isinstance(outer, _CHOOSING) or (
            isinstance(outer, cst.BaseCompoundStatement) and not isinstance(outer, cst.With)
        ):
            return False
        inner = outer
    return False


def _leaves(node: cst.CSTNode) -> bool:
    """Return whether code may end the function, or a turn of a loop."""
    return isinstance(node, _LEAVING) or any(_leaves(one) for one in node.children)


def _before(statement: cst.SimpleStatementLine, facts: Facts) -> Iterator[cst.SimpleStatementLine]:
    """Yield a statement, and those that have surely run before it."""
    inner: cst.CSTNode = statement
    yield statement
    for outer in facts.around(statement):
        if isinstance(outer, cst.FunctionDef):
            return
        if isinstance(outer, cst.IndentedBlock):
            before, _ = around_in(outer, inner)
            yield from (one for one in before if isinstance(one, cst.SimpleStatementLine))
        inner = outer


def _reads_from(node: cst.CSTNode, owner: str, facts: Facts) -> bool:
    """Return whether code reads an attribute of something in any case."""
    if isinstance(node, cst.Attribute) and facts.text(node.value) == owner:
        return True
    if isinstance(node, _CHOOSING):
        return False
    return any(_reads_from(one, owner, facts) for one in node.children)
