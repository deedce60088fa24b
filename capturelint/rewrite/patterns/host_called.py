"""A call of a function that only fills a tensor on the host, which is then used on the device.

`pos = table(n)`, then `(pos < n).to(x.device)`: under `with torch.device(x.device):` the function fills it
there, and whoever else calls it has what it had.
"""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.filling import is_filling
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.patterns.host_made import device_of
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.site import Site


def sites(facts: Observed) -> list[cst.Call]:
    """Return the calls whose results are bound to a name, and used on the device alone."""
    calls = (one for one in facts.nodes(cst.Call) if isinstance(one, cst.Call))
    return [one for one in calls if _fills(one, facts) and device_of(one, facts)]


def tests(node: cst.Call, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: there is one way."""
    return []


def match(node: cst.Call, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:
    """Offer the call with the device as the one to fill on."""
    statement = facts.nearest(node, cst.SimpleStatementLine)
    assert statement is not None, "that makes it a site"
    span = facts.span(statement.body[0])
    indent = facts.source.line(span.line)[: span.column]
    unit = "\t" if "\t" in indent else "    "
    head = f"with {torch}.device({device_of(node, facts)}):\n{indent}{unit}"
    return Site("", node, facts).form(Grade.PROVEN, Edit(span, head + facts.text_at(span)))


def _fills(node: cst.Call, facts: Observed) -> bool:
    known = facts.torch
    parent = next(facts.around(node))
    statement = facts.nearest(node, cst.SimpleStatementLine)
    if known is None or not isinstance(parent, cst.Assign) or statement is None:
        return False
    span = facts.span(statement.body[0])
    is_alone = len(statement.body) == 1 and span.line == span.end_line
    is_named = isinstance(node.func, cst.Name) and node.func.value not in facts.locals
    if not is_alone or not is_named or not facts.is_known_host(node):
        return False
    given = [arg.value for arg in node.args if arg.keyword is None and not arg.star]
    is_whole = all(facts.is_int(one) and not impurity(one, facts) for one in given)
    is_function = {one.name for one in facts.seen(node.func)} == {"function"}
    if len(given) < len(node.args) or not is_whole or not is_function:
        return False
    return is_filling(facts.whole, facts.text(node.func), len(given), known.name)
