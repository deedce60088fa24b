"""A statement that only prints or logs what is on the device, put under a test for a capture."""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.form import Form, Refusal
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.patterns import guarded_text
from capturelint.rewrite.site import Site

_TEST = "is_current_stream_capturing"


def sites(facts: Observed) -> list[cst.Expr]:
    """Return the statements that print or log a tensor, but those under such a test."""
    found: list[cst.Expr] = []
    for node in facts.nodes(cst.Expr):
        if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
            is_guarded = any(
                isinstance(one, cst.If) and _TEST in facts.text(one.test)
                for one in facts.around(node)
            )
            is_writer = guarded_text.is_writer(Site("", node, facts), node.value)
            if is_writer and not is_guarded and _holds_tensor(node.value, facts):
                found.append(node)
    return found


def tests(node: cst.Expr, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: eagerly nothing changes."""
    return []


def match(node: cst.Expr, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:  # noqa: ARG001
    """Offer the test around the statement."""
    return guarded_text.match(Site("", node.value, facts))


def _holds_tensor(node: cst.CSTNode, facts: Observed) -> bool:
    if isinstance(node, cst.BaseExpression) and facts.value(node).is_device_tensor:
        return True
    return any(_holds_tensor(child, facts) for child in node.children)
