"""`if flag and t:` with a flag of Python and a condition on the device: one `if` within the other."""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit, Span
from capturelint.rewrite.conditions import reads_tensor
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.lines import lines_in_strings
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.site import Site


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
    test, first = _condition_span(node, facts), facts.span(node.body.body[0]).line
    if test.end_line >= first:
        return ()
    new = f" {_one_line(flag, facts)}:\n{indent}{unit}if {_one_line(rest, facts)}"
    edits = [Edit(test, new)]
    last = facts.span(node.body.body[-1]).end_line
    inside = lines_in_strings(node.body, facts)
    for line in range(test.end_line + 1, last + 1):
        if line not in inside and facts.source.line(line).strip():
            edits.append(Edit(Span(line, 0, line, 0), unit))
    return Site("", node, facts).form(Grade.PROVEN, *edits)


def _condition_span(node: cst.If, facts: Observed) -> Span:
    """Return what stands between `if` and its colon, with parentheses around the condition."""
    start, inner = facts.span(node), facts.span(node.test)
    line, column = inner.end_line, inner.end_column
    for _ in node.test.rpar:
        while not facts.source.line(line)[column:].lstrip().startswith(")"):
            line, column = line + 1, 0
        column = facts.source.line(line).index(")", column) + 1
    return Span(start.line, start.column + len("if"), line, column)


def _one_line(node: cst.BaseExpression, facts: Observed) -> str:
    text = facts.text(node)
    return f"({text})" if "\n" in text else text


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
