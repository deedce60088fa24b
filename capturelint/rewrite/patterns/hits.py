"""A loop over the experts that a mask has anything of, as one over all: those left out have no rows.

`for e in (m.sum(dim=(-1, -2)) > 0).nonzero():` with `e = e[0]`, or with `m[e].squeeze(0)` and `e[0]` in its
turns, is `for e in range(m.shape[0]):`. The rows of each are then written for all rows by another pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from capturelint.finding import Edit, Span
from capturelint.rewrite.bindings import Way, bindings
from capturelint.rewrite.blocks import names_in, names_outside, read_names, statements_of
from capturelint.rewrite.conditions import RefusedError, refuse
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.literals import number
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.positions import positions_in
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.regions import only_statement, target_of
from capturelint.rewrite.site import Site
from capturelint.rewrite.turns import refusal_of
from capturelint.rule import argument, method_call

_HINT = "go over all experts, `for e in range(n)`: those without rows add nothing"
_STORES = frozenset(("index_add_",))


@dataclass(frozen=True, slots=True)
class _Hits:
    """`bound`: the statement that finds what is hit. `taking`: edits after which turns have its number.

    `item`: the part of the mask by which a turn goes, as it is written.
    """

    mask: cst.BaseExpression
    bound: cst.CSTNode
    taking: Sequence[Edit]
    item: str
    rest: Sequence[cst.BaseStatement]


def sites(facts: Observed) -> list[cst.For]:
    """Return the loops over what a mask has anything of."""
    loops = (one for one in facts.nodes(cst.For) if isinstance(one, cst.For))
    return [one for one in loops if _hits(one, facts) is not None]


def tests(node: cst.For, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: there is one way."""
    return []


def match(node: cst.For, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:  # noqa: ARG001
    """Offer the loop over all."""
    hits = _hits(node, facts)
    assert hits is not None, "that makes it a site"
    try:
        _check(node, hits, facts)
    except RefusedError as error:
        return error.refusal
    held = facts.text(hits.mask)
    return Site("", node, facts).form(
        Grade.PROVEN,
        Edit(facts.span(node.iter), f"range({held}.shape[0])"),
        *hits.taking,
        _without(hits.bound, facts),
    )


def _hits(node: cst.For, facts: Observed) -> _Hits | None:
    if not isinstance(node.iter, cst.Name) or not isinstance(node.target, cst.Name) or node.orelse:
        return None
    places = bindings(facts.tree, node.iter.value) or []
    mask = _counted(places[0].source, facts) if len(places) == 1 else None
    if mask is None or places[0].way is not Way.VALUE:
        return None
    bound = facts.nearest(places[0].source, cst.SimpleStatementLine)
    if bound is None or only_statement(bound) is None:
        return None
    name, held = node.target.value, facts.text(mask)
    first, *rest = statements_of(node.body)
    if _takes(first, name, facts):
        return _Hits(mask, bound, (_without(first, facts),), f"{held}[{name}]", rest)
    taking = _readings(node, name, held, facts)
    item = f"{held}[{name}].squeeze(0)"
    return _Hits(mask, bound, taking, item, (first, *rest)) if taking else None


def _takes(statement: cst.BaseStatement, name: str, facts: Observed) -> bool:
    """Return whether a statement binds the number in a name to that name."""
    small = only_statement(statement)
    is_taken = isinstance(small, cst.Assign) and facts.text(small.value) == f"{name}[0]"
    if not is_taken or not isinstance(small, cst.Assign) or len(small.targets) > 1:
        return False
    return facts.text(small.targets[0].target) == name


def _readings(loop: cst.For, name: str, held: str, facts: Observed) -> tuple[Edit, ...]:
    """Return edits of all places where turns read a number out of a name; none if some do otherwise."""
    found: list[Edit] = []
    for one in names_in(loop.body):
        if one.value != name:
            continue
        edit = _reading(one, name, held, facts)
        if edit is None:
            return ()
        found.append(edit)
    return tuple(found)


def _reading(node: cst.Name, name: str, held: str, facts: Observed) -> Edit | None:
    parent = next(facts.around(node))
    indexed = facts.nearest(node, cst.Subscript)
    if indexed is None:
        return None
    if parent is indexed and facts.text(indexed) == f"{name}[0]":
        shown = next(facts.around(indexed))
        # In its own representation a tensor is no number.
        is_own = isinstance(shown, cst.FormattedStringExpression) and bool(
            shown.conversion or shown.equal
        )
        return None if is_own else Edit(facts.span(indexed), name)
    call = facts.nearest(indexed, cst.Call)
    is_row = facts.text(indexed) == f"{held}[{name}]"
    if call is None or not is_row or facts.text(call) != f"{held}[{name}].squeeze(0)":
        return None
    return Edit(facts.span(call), f"{held}[{name}]")


def _counted(node: cst.BaseExpression, facts: Observed) -> cst.BaseExpression | None:
    """Return the mask of whose first dimension an expression names what has anything in it."""
    called = method_call(node) if isinstance(node, cst.Call) else None
    if called is None or called[1] != "nonzero" or not isinstance(node, cst.Call) or node.args:
        return None
    test, left = called[0], None
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        link = test.comparisons[0]
        is_more = isinstance(link.operator, cst.GreaterThan) and number(link.comparator) == 0
        left = test.left if is_more else None
    elif isinstance(test, cst.Call) and facts.full_name(test.func) in ("torch.greater", "torch.gt"):
        is_more = len(test.args) == 2 and number(test.args[1].value) == 0
        left = test.args[0].value if is_more else None
    counted = method_call(left) if isinstance(left, cst.Call) else None
    if counted is None or counted[1] != "sum" or not isinstance(left, cst.Call):
        return None
    along = argument(left, "dim", 0)
    dims = [number(one.value) for one in along.elements] if isinstance(along, cst.Tuple) else []
    seen = facts.seen(counted[0])
    is_whole = bool(seen) and all(
        len(one.shape) == 3 and one.dtype in ("int64", "int32", "bool") for one in seen
    )
    is_name = isinstance(counted[0], cst.Name)
    return counted[0] if sorted(map(str, dims)) == ["-1", "-2"] and is_whole and is_name else None


def _check(node: cst.For, hits: _Hits, facts: Observed) -> None:
    """Raise unless a turn for what has no rows would do nothing."""
    assert isinstance(node.iter, cst.Name), "that makes it a site"
    name = node.iter.value
    uses = [one for one in facts.nodes(cst.Name) if facts.text(one) == name and facts.seen(one)]
    if len(uses) != 1 or not _bound_in(node).isdisjoint(names_outside(node, facts)):
        reason = "what it goes over, or leaves behind, is read elsewhere"
        raise refuse(facts, node, "READ", reason, _HINT)
    if not facts.allowed.all_experts:
        turns, choices, _ = min(one.shape for one in facts.seen(hits.mask))
        raise refuse(facts, node, "COST", *refusal_of(turns, choices))
    rest = list(hits.rest)
    if rest and _is_skipping(rest[0], node, facts):
        rest = rest[1:]
    found = positions_in(rest[0], facts) if rest else None
    if found is None or facts.text(found.mask) != hits.item:
        reason = f"its turns do not begin with the places of `{hits.item}`"
        raise refuse(facts, node, "ROWS", reason, _HINT)
    for one in rest[1:]:
        _check_statement(one, found.names, facts)


def _check_statement(statement: cst.BaseStatement, names: tuple[str, ...], facts: Observed) -> None:
    small = only_statement(statement)
    call = small.value if isinstance(small, cst.Expr) else None
    called = method_call(call) if isinstance(call, cst.Call) else None
    if called is not None and called[1] in _STORES and isinstance(call, cst.Call):
        index = call.args[1].value if len(call.args) == 3 else None
        values: list[cst.BaseExpression] = [call.args[2].value] if index is not None else []
        is_known = isinstance(index, cst.Name) and index.value in names
    else:
        target = target_of(small)
        values = [small.value] if isinstance(small, cst.Assign) else []
        is_known = isinstance(small, cst.Assign) and isinstance(target, cst.Name | cst.Tuple)
        is_known = (
            is_known and read_names(target).isdisjoint(names) if target is not None else False
        )
    why = next(filter(None, (impurity(one, facts) for one in values)), "")
    if not is_known or why:
        head = facts.text(statement).split("\n")[0]
        raise refuse(
            facts, statement, "STATEMENT", why or f"`{head}` may do more than add rows", _HINT
        )


def _is_skipping(node: cst.BaseStatement, loop: cst.For, facts: Observed) -> bool:
    """Return whether a statement goes on to the next turn for one number."""
    if not isinstance(node, cst.If) or node.orelse is not None:
        return False
    body, test = statements_of(node.body), node.test
    is_left = len(body) == 1 and isinstance(only_statement(body[0]), cst.Continue)
    if not is_left or not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return False
    (link,) = test.comparisons
    is_same = isinstance(link.operator, cst.Equal) and facts.text(test.left) == facts.text(
        loop.target
    )
    is_int = {(one.kind, one.name) for one in facts.seen(link.comparator)} == {("number", "int")}
    return is_same and (is_int or type(number(link.comparator)) is int)


def _bound_in(node: cst.CSTNode) -> frozenset[str]:
    """Return the names that are bound somewhere inside, tuples of them too."""
    names = frozenset[str]()
    if isinstance(node, cst.AssignTarget | cst.AugAssign | cst.For):
        is_bound = not isinstance(node.target, cst.Subscript | cst.Attribute)
        names = frozenset(one.value for one in names_in(node.target) if is_bound)
    return names.union(*(_bound_in(child) for child in node.children))


def _without(node: cst.CSTNode, facts: Observed) -> Edit:
    """Return the edit that takes a statement away."""
    span = facts.span(node)
    block = next(facts.around(node))
    if isinstance(block, cst.IndentedBlock) and len(block.body) == 1:
        return Edit(span, "pass")
    return Edit(Span(span.line, 0, span.end_line + 1, 0), "")
