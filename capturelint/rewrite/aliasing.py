"""A choice gives a new tensor where a branch gave one that something else holds too.

Whoever writes to it in place afterwards then no longer writes to the other.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.bindings import Way, bindings, parameter
from capturelint.rewrite.blocks import assigned_names
from capturelint.rewrite.conditions import refuse
from capturelint.rewrite.observed import Observed
from capturelint.rule import method_call

_VIEWS = frozenset(
    (
        "view view_as reshape reshape_as expand expand_as t transpose permute squeeze unsqueeze flatten"
        " detach to type type_as contiguous float double half bfloat16 long int bool narrow select"
        " unflatten unfold diagonal swapaxes movedim chunk split unbind real imag cuda"
    ).split()
)


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
    shared = frozenset(one for one in assigned_names(node) if _may_alias(one, facts))
    for call in facts.nodes(cst.Call):
        assert isinstance(call, cst.Call), "only those were asked for"
        is_later = is_in_loop or facts.span(call)[2:] > end
        if is_later and _given(call) & shared and not _keeps(call, facts):
            reason = f"`{facts.text(call.func)}()` may write in place to what the choice copied"
            raise refuse(facts, call, "ALIAS", reason, "write the branch by hand")


def _may_alias(name: str, facts: Observed) -> bool:
    """Return whether a name may stand for a tensor that something else holds too."""
    places = bindings(facts.tree, name)
    if places is None or parameter(facts.tree, name) is not None:
        return True
    return any(way is not Way.VALUE or _is_shared(source) for way, source in places)


def _is_shared(node: cst.BaseExpression) -> bool:
    called = method_call(node) if isinstance(node, cst.Call) else None
    is_view = called is not None and called[1] in _VIEWS
    return is_view or isinstance(node, cst.Name | cst.Attribute | cst.Subscript | cst.IfExp)


def _given(call: cst.Call) -> frozenset[str]:
    """Return the names that stand for themselves among the arguments of a call."""
    given = (arg.value for arg in call.args)
    return frozenset(one.value for one in given if isinstance(one, cst.Name))


def _keeps(call: cst.Call, facts: Observed) -> bool:
    """Return whether a call surely writes nothing in place, beyond what its own text shows."""
    name, called = facts.full_name(call.func), method_call(call)
    is_library = name.startswith(("torch.", "builtins.", "math."))
    is_method = called is not None and facts.is_tensor(called[0])
    return is_library or is_method or facts.is_pure_module(call.func)


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
