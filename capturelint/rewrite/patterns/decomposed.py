"""A linear algebra routine that ran on the device, by the form that leaves its status there.

`torch.linalg.cholesky(a)` is `torch.linalg.cholesky_ex(a).L`, but raises where there is none. So it is written
only where code need no longer raise.
"""

from __future__ import annotations

import libcst as cst

from capturelint.operations import operations_of
from capturelint.rewrite.form import Form, Refusal
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.patterns import checked_linalg
from capturelint.rewrite.site import Site
from capturelint.rule import method_call

_CHECKED = frozenset(row.op for row in operations_of("CL801") if not row.form)
_NOTE = (
    "unsafe: where the routine raised, as for a matrix without an inverse, its `_ex` form raises nothing and"
    " returns numbers that mean nothing"
)
_OFFER = "`--unsafe-fixes` writes its `_ex` form, which returns numbers that mean nothing there"


def sites(facts: Observed) -> list[cst.CSTNode]:
    """Return the calls of routines on the device that read their status on the host.

    Of those that have no other form, only such as lines to blame hold.
    """
    return [
        one
        for one in facts.nodes(cst.Call)
        if isinstance(one, cst.Call) and _is_checked(one, facts)
    ]


def tests(node: cst.CSTNode, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: there is one way."""
    return []


def match(node: cst.Call, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:  # noqa: ARG001
    """Offer the form that does not check its status, if the user allows it."""
    site = Site("", node, facts)
    found = checked_linalg.match(site)
    if isinstance(found, Refusal) or not found:
        return found
    if not facts.allowed.unsafe_fixes:
        what = (
            f"`{facts.text(node.func)}` raises for some matrices, so the host waits for its status"
        )
        return site.refusal("RAISES", what, _OFFER)
    return tuple(Form(one.grade, one.edits, (_NOTE,)) for one in found)


def _is_checked(node: cst.Call, facts: Observed) -> bool:
    name, called = facts.full_name(node.func), method_call(node)
    given = [one.value for one in node.args]
    if not name and called is not None:
        name, given = f"Tensor.{called[1]}", [called[0]]
    if name not in _CHECKED or not any(facts.value(one).is_device_tensor for one in given):
        return False
    return name in checked_linalg.ROUTINES or facts.may_be_blamed(node)
