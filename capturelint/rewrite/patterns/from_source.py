"""What the source alone decides, where a run has shown the tensors: fills, lists, stored numbers.

Numbers of the host that are not written out are filled too, and short lists put together from fills.
"""

from __future__ import annotations

from types import ModuleType

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.patterns import (
    device_fill,
    host_numbers,
    list_index,
    moved_fill,
    stored_number,
)
from capturelint.rewrite.patterns.number_fills import MAKING
from capturelint.rewrite.site import Site, indices_of
from capturelint.rule import argument, method_call


def sites(facts: Observed) -> list[cst.CSTNode]:
    """Return the places that copy numbers of the host to the device."""
    return [
        node for node in facts.nodes(cst.Call, cst.Subscript) if _pattern(node, facts) is not None
    ]


def tests(node: cst.CSTNode, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: there is one way."""
    return []


def match(node: cst.CSTNode, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:
    """Offer what the pattern of the source offers, or numbers put together."""
    pattern = _pattern(node, facts)
    assert pattern is not None, "that makes it a site"
    found: tuple[Form, ...] | Refusal = pattern.match(Site("", node, facts))
    if not isinstance(found, Refusal) or not isinstance(node, cst.Call):
        return found
    text = ""
    if pattern is device_fill:
        text = host_numbers.filled(node, facts, torch)
    elif pattern is moved_fill:
        text = host_numbers.moved(node, facts, torch)
    return Site("", node, facts).form(Grade.PROVEN, Edit(facts.span(node), text)) if text else found


def _pattern(node: cst.CSTNode, facts: Observed) -> ModuleType | None:
    if isinstance(node, cst.Subscript):
        if not facts.value(node.value).is_device_tensor:
            return None
        if any(isinstance(one, cst.List) for one in indices_of(node)):
            return list_index
        statement = next(facts.around(node))
        is_target = isinstance(statement, cst.AssignTarget)
        is_filled = is_target and not facts.seen(node)
        return stored_number if is_filled and _stores_number(node, facts) else None
    if not isinstance(node, cst.Call) or not facts.value(node).is_device_tensor:
        return None
    called = method_call(node)
    if facts.full_name(node.func) in MAKING:
        return device_fill if _has_numbers(node) else None
    if called is None or facts.full_name(node.func):
        return None
    if called[1] == "new_tensor":
        return device_fill
    is_move = called[1] in ("to", "cuda")
    return (
        moved_fill
        if is_move and facts.seen(called[0]) and not facts.value(called[0]).is_device_tensor
        else None
    )


def _has_numbers(node: cst.Call) -> bool:
    return bool(node.args) and argument(node, "device") is not None


def _stores_number(node: cst.Subscript, facts: Observed) -> bool:
    """Return whether a number is stored where integers or tensors of positions name elements."""
    statement = facts.nearest(node, cst.Assign)
    if statement is None or facts.is_tensor(statement.value):
        return False
    seen = [one for index in indices_of(node) for one in facts.seen(index)]
    is_mask = any(one.kind == "tensor" and one.dtype == "bool" for one in seen)
    is_view = any(not isinstance(one.slice, cst.Index) for one in node.slice)
    return not is_mask and not is_view and bool(indices_of(node))
