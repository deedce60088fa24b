"""Whether an expression is surely one Python integer: no truth value, no sequence of integers."""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.bindings import Way, bindings, parameter
from capturelint.rewrite.literals import number
from capturelint.rewrite.site import Facts
from capturelint.rule import method_call

_COUNTS = frozenset(("dim", "ndimension", "numel", "nelement"))
_OPERATORS = (cst.Add, cst.Subtract, cst.Multiply, cst.FloorDivide, cst.Modulo)


def is_one_int(node: cst.BaseExpression, facts: Facts, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether an expression is surely an `int`; what only an annotation says is not sure.

    `seen`: the names that are being asked about further out.
    """
    if isinstance(node, cst.Name):
        return _is_int_name(node, facts, seen)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus | cst.Plus):
        return is_one_int(node.expression, facts, seen)
    if isinstance(node, cst.BinaryOperation):
        is_kept = isinstance(node.operator, _OPERATORS)
        return is_kept and all(is_one_int(one, facts, seen) for one in (node.left, node.right))
    if isinstance(node, cst.Subscript):
        return _is_sizes(node.value, facts) and _is_written_int(node)
    if isinstance(node, cst.Attribute):
        return node.attr.value == "ndim" and facts.is_surely_tensor(node.value)
    if isinstance(node, cst.Call):
        return _is_size(node, facts)
    return type(number(node)) is int


def _is_int_name(node: cst.Name, facts: Facts, seen: frozenset[str]) -> bool:
    """Return whether all that binds a local name gives it one integer."""
    name = node.value
    if name in seen or parameter(facts.tree, name) is not None:
        return False
    places = bindings(facts.tree, name)
    if not places:
        return False
    for way, source in places:
        is_int = (
            is_one_int(source, facts, seen | {name})
            if way is Way.VALUE
            else _is_call_of(source, "builtins.range", facts) or _is_sizes(source, facts)
            if way is Way.ITEM
            else way is Way.FIRST and _is_call_of(source, "builtins.enumerate", facts)
        )
        if not is_int:
            return False
    return True


def _is_call_of(node: cst.BaseExpression, name: str, facts: Facts) -> bool:
    return isinstance(node, cst.Call) and facts.full_name(node.func) == name


def _is_sizes(node: cst.BaseExpression, facts: Facts) -> bool:
    """Return whether an expression is the `shape` of a tensor, or says the same."""
    if isinstance(node, cst.Attribute):
        return node.attr.value == "shape" and facts.is_surely_tensor(node.value)
    if not isinstance(node, cst.Call) or node.args:
        return False
    called = method_call(node)
    return called is not None and called[1] == "size" and facts.is_surely_tensor(called[0])


def _is_size(node: cst.Call, facts: Facts) -> bool:
    """Return whether a call gives one size of a tensor, or how many there are."""
    called = method_call(node)
    if called is None:
        is_length = facts.full_name(node.func) == "builtins.len" and len(node.args) == 1
        return is_length and facts.is_surely_tensor(node.args[0].value)
    receiver, method = called
    if not facts.is_surely_tensor(receiver):
        return False
    if method in _COUNTS:
        return not node.args
    is_one = method == "size" and len(node.args) == 1 and not node.args[0].star
    return is_one and type(number(node.args[0].value)) is int


def _is_written_int(node: cst.Subscript) -> bool:
    if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return False
    return type(number(node.slice[0].slice.value)) is int
