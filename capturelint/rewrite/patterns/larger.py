"""`max(a, b)` and `min(a, b)` of two tensors of one element, as the choice that Python makes.

`max` keeps the first unless the second is greater, so it is `b if b > a else a`, also where one is NaN.
The choice is then rewritten as every other one.
"""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.conditions import grouped
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.site import Site

_SIGNS = {"builtins.max": ">", "builtins.min": "<"}
_OPEN = (cst.Arg, cst.Assign, cst.Return)


def sites(facts: Observed) -> list[cst.Call]:
    """Return the calls of a function that compare two tensors on the device, the outer ones first."""
    found: list[cst.Call] = []
    for node in facts.nodes(cst.Call):
        assert isinstance(node, cst.Call), "only those were asked for"
        if facts.full_name(node.func) not in _SIGNS or len(node.args) != 2:
            continue
        is_plain = all(arg.keyword is None and not arg.star for arg in node.args)
        if is_plain and all(facts.value(arg.value).is_device_tensor for arg in node.args):
            found.append(node)
    return found


def tests(node: cst.Call, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: the choice is tested once it is one."""
    return []


def match(node: cst.Call, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:  # noqa: ARG001
    """Offer the choice."""
    first, second = (arg.value for arg in node.args)
    site = Site("", node, facts)
    alike = {(one.dtype, one.shape) for value in (first, second) for one in facts.seen(value)}
    if len(alike) != 1 or any(one.numel != 1 for one in facts.seen(first)):
        return site.refusal(
            "ALIKE", "it compares tensors of other types or sizes", "use `torch.where`"
        )
    why = impurity(first, facts) or impurity(second, facts)
    if why:
        return site.refusal("IMPURE", why, "give it a name before")
    one, other = (grouped(value, facts.text(value)) for value in (first, second))
    text = f"{other} if {other} {_SIGNS[facts.full_name(node.func)]} {one} else {one}"
    is_open = isinstance(next(facts.around(node)), _OPEN)
    return site.form(Grade.PROVEN, Edit(facts.span(node), text if is_open else f"({text})"))
