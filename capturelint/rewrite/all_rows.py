"""Whether a loop goes over all rows of a tensor, whatever their number."""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.bindings import Binding, Way, bindings
from capturelint.rewrite.blocks import read_names, statements_of
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.regions import only_statement
from capturelint.rule import method_call


def goes_over_all(
    node: cst.For,
    rows: tuple[cst.BaseExpression, cst.BaseExpression],
    count: int,
    facts: Observed,
) -> bool:
    """Return whether a loop that stores by its first statement has a turn for each row.

    `rows`: what is stored in, and a tensor with one element for each row of it, of which there were
    `count`. An `enumerate` goes over the latter.
    """
    call = node.iter
    if not isinstance(call, cst.Call):
        return False
    if facts.full_name(call.func) == "builtins.enumerate":
        return True
    given = call.args[0].value
    made = read_names(given)
    if isinstance(given, cst.Name):
        places = bindings(facts.tree, given.value) or []
        is_known = len(places) == 1 and _is_first(given, places[0], facts)
        given = places[0].source if is_known else given
    small = only_statement(statements_of(node.body)[0])
    target = small.targets[0].target if isinstance(small, cst.Assign) else None
    sized = _sized(given, facts)
    if sized is None or not isinstance(target, cst.Subscript):
        return False
    counts = facts.observation.counts
    turns, starts = counts[facts.span(target.value)], counts[facts.span(call)]
    return turns == count * starts and _is_of(rows, facts.text(sized), made, facts)


def _is_first(name: cst.Name, place: Binding, facts: Observed) -> bool:
    """Return whether a name holds what it is bound to, or the first part of it."""
    statement = facts.nearest(place.source, cst.Assign)
    target = statement.targets[0].target if statement is not None else None
    if place.way is Way.VALUE:
        return True
    parts = target.elements if isinstance(target, cst.Tuple) else ()
    return place.way is Way.ITEM and bool(parts) and facts.text(parts[0].value) == name.value


def _is_of(
    rows: tuple[cst.BaseExpression, cst.BaseExpression],
    sized: str,
    made: frozenset[str],
    facts: Observed,
) -> bool:
    """Return whether a tensor has as many rows as what is filled, by what the source says.

    It is that or its lengths, or what is filled was made with it or with its number of rows.
    """
    held, lengths = rows
    if sized in (facts.text(held), facts.text(lengths)):
        return True
    places = bindings(facts.tree, held.value) if isinstance(held, cst.Name) else None
    if not places or len(places) > 1:
        return False
    return not read_names(places[0].source).isdisjoint(made | {sized})


def _sized(node: cst.BaseExpression, facts: Observed) -> cst.BaseExpression | None:
    """Return the tensor of which an expression is the length or the shape, None for others."""
    text = facts.text(node)
    held: cst.BaseExpression | None = None
    if isinstance(node, cst.Call):
        called = method_call(node)
        is_len = facts.full_name(node.func) == "builtins.len" and len(node.args) == 1
        is_size = (
            called is not None and called[1] == "size" and text.endswith((".size(0)", ".size()"))
        )
        held = (
            node.args[0].value if is_len else called[0] if called is not None and is_size else None
        )
    elif isinstance(node, cst.Subscript) and text.endswith(".shape[0]"):
        held = node.value.value if isinstance(node.value, cst.Attribute) else None
    elif isinstance(node, cst.Attribute) and node.attr.value == "shape":
        held = node.value
    return held if held is not None and facts.is_tensor(held) else None
