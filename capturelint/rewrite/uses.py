"""What becomes of a number that the host holds, where a tensor of one element could take its place."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from capturelint.rewrite.conditions import refuse
from capturelint.rewrite.observed import Observed
from capturelint.rule import method_call

_HINT = (
    "keep the value on the device, as a tensor of one element; in place of a size take the largest there"
    " can be, and mask the rest"
)
# On an H200 with torch 2.11 this held for 29 % of quotients of float32, and for none on the host.
DIVIDED = (
    "on a GPU a division by a number, or of one, may differ in the last place from that by a tensor of"
    " one element which takes its place"
)
_OPERATORS = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide)
_BOUNDS = frozenset(("min", "max"))


def partners(node: cst.CSTNode, facts: Observed) -> frozenset[str]:
    """Return the types of the tensors that a number is used with, at the place of a node.

    Empty where it is compared with other numbers, in a condition. Raises `RefusedError` where only
    a number will do.
    """
    parent = next(facts.around(node))
    if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, _OPERATORS):
        other = parent.right if parent.left is node else parent.left
        if facts.is_tensor(other):
            is_divided = isinstance(parent.operator, cst.Divide) and parent.right is other
            return _types(other, facts, is_exact=not is_divided)
    if isinstance(parent, cst.Arg):
        call = next(facts.around(parent))
        assert isinstance(call, cst.Call | cst.ClassDef), "arguments are of calls"
        called = method_call(call) if isinstance(call, cst.Call) else None
        if called is not None and _is_only_bound(call, called[1]) and facts.is_tensor(called[0]):
            return _types(called[0], facts, is_exact=True)
    comparison = _comparison(node, facts)
    if comparison is not None:
        return frozenset()
    reason = f"`{facts.text(parent)}` needs a number on the host"
    raise refuse(facts, node, "HOST", reason, _HINT)


def is_divided(node: cst.CSTNode, facts: Observed) -> bool:
    """Return whether a number is one side of a division."""
    parent = next(facts.around(node))
    return isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Divide)


def is_compared(node: cst.CSTNode, facts: Observed) -> bool:
    """Return whether a number is one side of a comparison with numbers, in a condition."""
    return compared_with(node, facts) is not None


def compared_with(node: cst.CSTNode, facts: Observed) -> cst.BaseExpression | None:
    """Return the other side of a comparison with numbers in a condition, None for other places."""
    found = _comparison(node, facts)
    if found is None:
        return None
    return found.comparisons[0].comparator if found.left is node else found.left


def loads(name: str, facts: Observed) -> Iterator[cst.Name]:
    """Yield the places that read a name of a function."""
    for node in facts.nodes(cst.Name):
        assert isinstance(node, cst.Name), "only those were asked for"
        parent = next(facts.around(node))
        is_other = (
            isinstance(parent, cst.AssignTarget | cst.Param)
            or (isinstance(parent, cst.Attribute) and parent.attr is node)
            or (isinstance(parent, cst.Arg) and parent.keyword is node)
        )
        if node.value == name and not is_other:
            yield node


def _types(node: cst.BaseExpression, facts: Observed, *, is_exact: bool) -> frozenset[str]:
    found = frozenset(one.dtype for one in facts.seen(node))
    if not is_exact and not found <= {"float32", "float64"}:
        reason = f"a division of {', '.join(sorted(found))} rounds otherwise by a tensor"
        raise refuse(facts, node, "HALF", reason, _HINT)
    return found


def _is_only_bound(call: cst.Call | cst.ClassDef, method: str) -> bool:
    """Return whether a call clamps by one bound, which may be a tensor."""
    assert isinstance(call, cst.Call), "a method was called"
    words = [arg.keyword.value if arg.keyword is not None else "" for arg in call.args]
    return method == "clamp" and len(words) == 1 and words[0] in _BOUNDS


def _comparison(node: cst.CSTNode, facts: Observed) -> cst.Comparison | None:
    around = list(facts.around(node))
    found = next((one for one in around[:2] if isinstance(one, cst.Comparison)), None)
    if found is None or len(found.comparisons) != 1:
        return None
    sides = (found.left, found.comparisons[0].comparator)
    others = [one for one in sides if one is not node]
    is_number = isinstance(others[0], cst.BaseNumber | cst.UnaryOperation) or all(
        one.kind == "number" for one in facts.seen(others[0])
    )
    outer = around[around.index(found) + 1]
    is_tested = isinstance(outer, cst.If | cst.IfExp | cst.While) and outer.test is found
    is_order = not isinstance(
        found.comparisons[0].operator, cst.In | cst.NotIn | cst.Is | cst.IsNot
    )
    return found if is_number and is_tested and is_order else None
