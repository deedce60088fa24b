"""A number stored at the places where a mask holds, `x[torch.where(m)] = 0`: stored by the mask.

The places would be counted on the host; a mask with a number is one fill on the device.
"""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.literals import number
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.site import Site, indices_of
from capturelint.rule import argument, method_call


def sites(facts: Observed) -> list[cst.Subscript]:
    """Return what a number is stored into by the places of a mask."""
    found = [one for one in facts.nodes(cst.Subscript) if isinstance(one, cst.Subscript)]
    return [one for one in found if _is_filled(one, facts) and _mask(one, facts) is not None]


def tests(node: cst.Subscript, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: there is one way."""
    return []


def match(node: cst.Subscript, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:  # noqa: ARG001
    """Offer the mask as the index."""
    mask, (index,) = _mask(node, facts), indices_of(node)
    assert mask is not None, "that makes it a site"
    edit = Edit(facts.span(index), facts.text(mask))
    return Site("", node, facts).form(Grade.PROVEN, edit)


def _is_filled(node: cst.Subscript, facts: Observed) -> bool:
    target = next(facts.around(node))
    statement = facts.nearest(node, cst.Assign)
    is_target = isinstance(target, cst.AssignTarget) and statement is not None
    return is_target and statement is not None and number(statement.value) is not None


def _mask(node: cst.Subscript, facts: Observed) -> cst.BaseExpression | None:
    """Return the mask whose places are the only index, None for other indices."""
    found = indices_of(node)
    if len(node.slice) != 1 or len(found) != 1 or not isinstance(found[0], cst.Call):
        return None
    call = found[0]
    called = method_call(call)
    if facts.full_name(call.func) == "torch.where" and len(call.args) == 1:
        mask: cst.BaseExpression = call.args[0].value
    elif called is not None and called[1] == "nonzero" and len(call.args) == 1:
        wants = argument(call, "as_tuple")
        if not isinstance(wants, cst.Name) or wants.value != "True":
            return None
        mask = called[0]
    else:
        return None
    seen = facts.seen(mask)
    is_mask = all(one.dtype == "bool" and one.shape and one.device != "cpu" for one in seen)
    return mask if seen and is_mask else None
