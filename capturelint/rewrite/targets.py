"""Whether an expression is surely a device, and no dtype, tensor, number or truth value."""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.bindings import Way, bindings, parameter
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.site import Site


def is_device(site: Site, node: cst.BaseExpression) -> bool:
    """Return whether what a tensor is moved to is surely a device, which reading does not change."""
    facts = site.facts
    value = facts.value(node)
    if facts.is_known_device(node):
        return not impurity(node, facts)
    if isinstance(node, cst.SimpleString):
        return isinstance(node.evaluated_value, str) and node.evaluated_value.startswith("cuda")
    if isinstance(node, cst.Attribute):
        is_pure = not impurity(node, facts)
        return node.attr.value == "device" and facts.is_surely_tensor(node.value) and is_pure
    if isinstance(node, cst.Call):
        is_made = facts.full_name(node.func) == "torch.device"
        return is_made and len(node.args) == 1 and is_device(site, node.args[0].value)
    if not isinstance(node, cst.Name) or value.is_tensor:
        return False
    given = parameter(facts.tree, node.value)
    places = bindings(facts.tree, node.value)
    if given is not None:
        return not places and places is not None and _is_hinted(site, given)
    return bool(places) and all(
        way is Way.VALUE and is_device(site, source) for way, source in places or ()
    )


def _is_hinted(site: Site, given: cst.Param) -> bool:
    """Return whether a parameter is said to be a device."""
    if given.annotation is None:
        return False
    hint = given.annotation.annotation
    return site.facts.full_name(hint) == "torch.device" or site.facts.text(hint) == "torch.device"
