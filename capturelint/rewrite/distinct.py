"""Whether the positions of a mask name each row once, or what is done to a row twice is the sum."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from capturelint.rewrite.bindings import bindings
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.positions import Positions
from capturelint.rule import argument, method_call

_KEEPING = frozenset(("to", "float", "unsqueeze"))
_FREE, _LINEAR, _OTHER = range(3)


def names_a_row_once(found: Positions, facts: Observed) -> bool:
    """Return whether no row is named twice: it has one element, or one of `topk` alone is chosen."""
    if len(found.names) == 1:
        return True
    mask: cst.BaseExpression = found.mask
    if isinstance(mask, cst.Name):
        places = bindings(facts.tree, mask.value) or []
        mask = places[0].source if len(places) == 1 else mask
    if not isinstance(mask, cst.Comparison) or len(mask.comparisons) != 1:
        return False
    (link,) = mask.comparisons
    seen = facts.seen(link.comparator)
    is_number = all(one.kind == "number" for one in seen)
    is_equal = isinstance(link.operator, cst.Equal) and isinstance(mask.left, cst.Name)
    return is_equal and is_number and isinstance(mask.left, cst.Name) and _is_topk(mask.left, facts)


def _is_topk(node: cst.Name, facts: Observed) -> bool:
    """Return whether a name is only compared, and holds the positions of the largest of each row."""
    places = bindings(facts.tree, node.value) or []
    call = places[0].source if len(places) == 1 else None
    statement = facts.nearest(call, cst.Assign) if call is not None else None
    if not isinstance(call, cst.Call) or statement is None or statement.value is not call:
        return False
    target = statement.targets[0].target
    parts = [one.value for one in target.elements] if isinstance(target, cst.Tuple) else []
    names = [one.value for one in parts if isinstance(one, cst.Name)]
    called, name = method_call(call), facts.full_name(call.func)
    is_method = not name and called is not None and called[1] == "topk"
    along = argument(call, "dim", 1 if is_method else 2)
    is_last = along is None or facts.text(along) == "-1"
    is_known = (is_method or name == "torch.topk") and is_last
    is_second = len(names) == len(parts) == 2 and names[1] == node.value
    return is_known and is_second and _is_only_compared(node.value, facts)


def _is_only_compared(name: str, facts: Observed) -> bool:
    """Return whether nothing can write to what a name holds."""
    loads = [one for one in facts.nodes(cst.Name) if facts.seen(one) and facts.text(one) == name]
    parents = [next(facts.around(one)) for one in loads]
    return all(isinstance(one, cst.Comparison | cst.ComparisonTarget) for one in parents)


def is_linear(node: cst.BaseExpression, found: Positions, known: Mapping[str, int]) -> bool:
    """Return whether an expression is a multiple of one weight for each position.

    Then what is added for two positions of a row is what is added for the sum of their weights.
    `known`: the degree of names.
    """
    return degree(node, found, known) == _LINEAR


def degree(node: cst.CSTNode, found: Positions, known: Mapping[str, int]) -> int:
    """Return 0 for what has no weight in it, 1 for a multiple of one, 2 for anything else."""
    if isinstance(node, cst.Name):
        return known.get(node.value, _FREE)
    if isinstance(node, cst.Subscript):
        indices = [one.slice.value for one in node.slice if isinstance(one.slice, cst.Index)]
        names = {one.value for one in indices if isinstance(one, cst.Name)}
        return _LINEAR if names >= set(found.names) else degree(node.value, found, known)
    if isinstance(node, cst.BinaryOperation):
        both = degree(node.left, found, known), degree(node.right, found, known)
        return _joined(node.operator, both)
    called = method_call(node) if isinstance(node, cst.Call) else None
    if called is not None and called[1] in _KEEPING:
        return degree(called[0], found, known)
    parts = [degree(child, found, known) for child in node.children]
    is_sign = isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus)
    return _FREE if not any(parts) else max(parts) if is_sign else _OTHER


def _joined(operator: cst.BaseBinaryOp, both: tuple[int, int]) -> int:
    if both == (_FREE, _FREE):
        return _FREE
    linear = {
        cst.Multiply: ((_FREE, _LINEAR), (_LINEAR, _FREE)),
        cst.Divide: ((_LINEAR, _FREE),),
        cst.Add: ((_LINEAR, _LINEAR),),
        cst.Subtract: ((_LINEAR, _LINEAR),),
    }
    return _LINEAR if both in linear.get(type(operator), ()) else _OTHER
