"""A choice gives a new tensor where a branch gave one that something else holds too.

Whoever writes to it in place afterwards then no longer writes to the other.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.conditions import refuse
from capturelint.rewrite.observed import Observed
from capturelint.rule import method_call


def check_alias(node: cst.CSTNode, facts: Observed) -> None:
    """Raise `RefusedError` if a function writes in place after a choice, or around it in a loop."""
    function = facts.nearest(node, cst.FunctionDef)
    assert function is not None, "only functions are observed"
    is_in_loop = any(isinstance(one, cst.For | cst.While) for one in facts.around(node))
    end = facts.span(node)[2:]
    for write in writes_in(function.body):
        if is_in_loop or facts.span(write)[2:] > end:
            text = facts.text(write).split("\n")[0]
            reason = f"`{text}` writes in place what the choice may have copied"
            raise refuse(facts, write, "ALIAS", reason, "write the branch by hand")


def writes_in(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Return what writes to tensors in place, as far as code shows."""
    found: list[cst.CSTNode] = []
    if (
        isinstance(node, cst.AugAssign)
        or (isinstance(node, cst.AssignTarget) and isinstance(node.target, cst.Subscript))
        or (isinstance(node, cst.Call) and _is_in_place(node))
    ):
        found.append(node)
    return found + [write for child in node.children for write in writes_in(child)]


def _is_in_place(node: cst.Call) -> bool:
    called = method_call(node)
    name = called[1] if called is not None else ""
    words = {arg.keyword.value for arg in node.args if arg.keyword is not None}
    return (name.endswith("_") and not name.endswith("__")) or bool(words & {"out", "inplace"})
