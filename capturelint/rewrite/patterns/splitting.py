"""`if flag and t:` with a flag of Python and a condition on the device: one `if` within the other."""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit, Span
from capturelint.rewrite.conditions import reads_tensor
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity


def sites(facts: Observed) -> list[cst.If]:
    """Return the branches whose condition is a flag and, if that holds, a tensor."""
    return [
        node
        for node in facts.nodes(cst.If)
        if isinstance(node, cst.If) and _flag_and_rest(node, facts) is not None
    ]


def tests(node: cst.If, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: the same is asked in the same order."""
    return []


def match(node: cst.If, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:  # noqa: ARG001
    """Offer the flag alone, with the rest under it."""
    parts = _flag_and_rest(node, facts)
    if parts is None or not isinstance(node.body, cst.IndentedBlock) or _is_elif(node, facts):
        return ()
    flag, rest = parts
    span = facts.span(node)
    indent = facts.source.line(span.line)[: span.column]
    unit = "\t" if "\t" in indent else "    "
    test = facts.span(node.test)
    edits = [Edit(test, f"{facts.text(flag)}:\n{indent}{unit}if {facts.text(rest)}")]
    first, last = facts.span(node.body.body[0]).line, facts.span(node.body.body[-1]).end_line
    lines = [line for line in range(test.end_line + 1, last + 1) if facts.source.line(line).strip()]
    if first <= test.end_line or any('"""' in facts.source.line(line) for line in lines):
        return ()
    edits += [Edit(Span(line, 0, line, 0), unit) for line in lines]
    return (Form(Grade.PROVEN, tuple(edits)),)


def _flag_and_rest(
    node: cst.If, facts: Observed
) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    test = node.test
    if node.orelse is not None or not isinstance(test, cst.BooleanOperation):
        return None
    if not isinstance(test.operator, cst.And) or not reads_tensor(facts, test.right):
        return None
    seen = facts.seen(test.left)
    is_flag = bool(seen) and all(one.kind != "tensor" for one in seen)
    if not is_flag or reads_tensor(facts, test.left) or impurity(test.left, facts):
        return None
    return test.left, test.right


def _is_elif(node: cst.If, facts: Observed) -> bool:
    parent = next(facts.around(node))
    return isinstance(parent, cst.If) and parent.orelse is node
