"""`a if t else b` with a tensor as the condition: both are computed, and `torch.where` takes one."""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.aliasing import check_alias
from capturelint.rewrite.conditions import (
    RefusedError,
    condition,
    conditions_in,
    reads_tensor,
    refuse,
)
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.merging import Merging
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.site import Site


def sites(facts: Observed) -> list[cst.IfExp]:
    """Return the choices of a function by tensors, the outer ones first."""
    found = [one for one in facts.nodes(cst.IfExp) if isinstance(one, cst.IfExp)]
    return [one for one in found if reads_tensor(facts, one.test)]


def tests(node: cst.IfExp, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return the conditions of a choice, and of all inside of it."""
    return conditions_in(node)


def match(node: cst.IfExp, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:
    """Offer a choice between the values of both sides."""
    try:
        check_alias(node, facts)
        cond = condition(facts, node.test, torch)
        merging = Merging(facts, torch)
        first, second = (merging.value(one, {}) for one in (node.body, node.orelse))
        if merging.is_bare:
            reason = "it may put NaN into gradients where it does not count"
            raise refuse(facts, node, "STEEP", reason, "write it as a branch")
    except RefusedError as error:
        return error.refusal
    edit = Edit(facts.span(node), Merging.choice(cond, first, second))
    return Site("", node, facts).form(Grade.PROVEN, edit)
