"""Blocks of code: their statements, and the names that they read and assign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from capturelint.rewrite.observed import Observed


def renamed(facts: Observed, node: cst.BaseExpression, env: dict[str, str]) -> str:
    """Return the text of an expression with all replaced that something holds."""
    start = facts.span(node)
    lines = facts.text(node).split("\n")
    found = sorted((facts.span(one), env[facts.text(one)]) for one in _held_in(node, facts, env))
    for span, new in reversed(found):
        row = span.line - start.line
        shift = start.column if row == 0 else 0
        line = lines[row]
        lines[row] = line[: span.column - shift] + new + line[span.end_column - shift :]
    return "\n".join(lines)


def _held_in(node: cst.CSTNode, facts: Observed, env: dict[str, str]) -> list[cst.CSTNode]:
    if isinstance(node, cst.BaseExpression) and facts.text(node) in env:
        return [node]
    if isinstance(node, cst.Attribute | cst.Arg):
        return _held_in(node.value, facts, env)
    return [one for child in node.children for one in _held_in(child, facts, env)]


def else_of(node: cst.If) -> Sequence[cst.BaseStatement]:
    """Return the statements of the other arm; an `elif` is one statement."""
    if node.orelse is None:
        return []
    return [node.orelse] if isinstance(node.orelse, cst.If) else statements_of(node.orelse.body)


def statements_of(body: cst.BaseSuite) -> Sequence[cst.BaseStatement]:
    """Return the statements of a block, also of one behind a colon."""
    if isinstance(body, cst.IndentedBlock):
        return body.body
    assert isinstance(body, cst.SimpleStatementSuite), "there are two kinds of suites"
    return [cst.SimpleStatementLine(body.body)]


def assigned_names(node: cst.CSTNode) -> frozenset[str]:
    """Return the names that are assigned somewhere inside."""
    found = frozenset[str]()
    if isinstance(node, cst.AssignTarget | cst.AugAssign) and isinstance(node.target, cst.Name):
        found = frozenset({node.target.value})
    return found.union(*(assigned_names(child) for child in node.children))


def read_names(node: cst.CSTNode) -> frozenset[str]:
    """Return the names that code reads or binds, without attributes and keywords."""
    return frozenset(name.value for name in names_in(node))


def names_in(node: cst.CSTNode) -> list[cst.Name]:
    """Return the names that code reads or binds, each place of them."""
    if isinstance(node, cst.Name):
        return [node]
    if isinstance(node, cst.Attribute | cst.Arg):
        return names_in(node.value)
    return [name for child in node.children for name in names_in(child)]


def names_outside(node: cst.CSTNode, facts: Observed) -> frozenset[str]:
    """Return the names that a function reads or binds outside of one of its statements."""
    function = facts.nearest(node, cst.FunctionDef)
    assert function is not None, "only functions are observed"
    return _outside(function.body, node)


def _outside(block: cst.CSTNode, node: cst.CSTNode) -> frozenset[str]:
    if block is node:
        return frozenset()
    if not block.children or isinstance(block, cst.BaseExpression | cst.BaseSmallStatement):
        return read_names(block)
    return frozenset[str]().union(*(_outside(child, node) for child in block.children))


def names_around(nodes: Sequence[cst.CSTNode], facts: Observed) -> frozenset[str]:
    """Return the names that a function reads or binds outside of some of its statements."""
    function = facts.nearest(nodes[0], cst.FunctionDef)
    assert function is not None, "only functions are observed"
    inside = {id(one) for one in nodes}

    def read(node: cst.CSTNode) -> Iterator[str]:
        if id(node) in inside:
            return
        if isinstance(node, cst.BaseSmallStatement | cst.BaseExpression):
            yield from read_names(node)
            return
        for child in node.children:
            yield from read(child)

    return frozenset(read(function.body))
