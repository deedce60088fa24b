"""Statements over what one mask selects, which follow each other or stand under a guard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from capturelint.rewrite.blocks import read_names, statements_of
from capturelint.rewrite.conditions import read_tensor
from capturelint.rewrite.literals import number
from capturelint.rewrite.masks import mask_of
from capturelint.rewrite.observed import Observed
from capturelint.rule import method_call


@dataclass(frozen=True, slots=True)
class Region:
    """Statements over one mask; `first` to `last` are replaced."""

    mask: cst.BaseExpression
    first: cst.CSTNode
    last: cst.CSTNode
    statements: Sequence[cst.BaseStatement]


def region_at(node: cst.CSTNode, facts: Observed) -> Region | None:
    """Return the statements over a mask that a statement begins, None if it is none of them."""
    if isinstance(node, cst.If):
        mask = _guarding(node, facts)
        if mask is None or node.orelse is not None:
            return None
        body = statements_of(node.body)
        used = (_mask_in(one, facts) for one in body)
        is_over_it = any(one is not None and facts.text(one) == facts.text(mask) for one in used)
        return Region(mask, node, node, body) if is_over_it else None
    mask = _mask_in(node, facts)
    if mask is None or (_is_number_stored(node) and not _loads(node, facts)):
        return None
    block = next(facts.around(node))
    if not isinstance(block, cst.IndentedBlock) or not isinstance(node, cst.SimpleStatementLine):
        return None
    rest = list(block.body)[list(block.body).index(node) :]
    return Region(mask, node, rest[0], rest[:1]) if not _names(node) else _run(mask, rest, facts)


def _run(
    mask: cst.BaseExpression, rest: Sequence[cst.BaseStatement], facts: Observed
) -> Region | None:
    """Return the statements from the first on up to the last that stores what it selects."""
    names, last = set[str](), -1
    for number_, one in enumerate(rest):
        if _mask_in(one, facts) is None and names.isdisjoint(read_names(one)):
            break
        names |= _names(one)
        if is_store(one, facts):
            last = number_
    if last < 0:
        return None
    return Region(mask, rest[0], rest[last], rest[: last + 1])


def _guarding(node: cst.If, facts: Observed) -> cst.BaseExpression | None:
    """Return the mask of which a test asks whether anything is true in it."""
    test: cst.BaseExpression = node.test
    test = read_tensor(facts, test) or test
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        link = test.comparisons[0]
        is_zero = isinstance(link.comparator, cst.Integer) and number(link.comparator) == 0
        if not is_zero or not isinstance(link.operator, cst.GreaterThan | cst.NotEqual):
            return None
        test = read_tensor(facts, test.left) or test.left
        wanted = "sum"
    else:
        wanted = "any"
    if not isinstance(test, cst.Call):
        return None
    called = method_call(test)
    if facts.full_name(test.func) == f"torch.{wanted}" and len(test.args) == 1:
        mask = test.args[0].value
    elif called is not None and called[1] == wanted and not test.args:
        mask = called[0]
    else:
        return None
    seen = facts.seen(mask)
    is_mask = bool(seen) and all(one.dtype == "bool" and one.shape for one in seen)
    return mask if is_mask else None


def _mask_in(node: cst.CSTNode, facts: Observed) -> cst.BaseExpression | None:
    """Return the first mask that a statement selects by."""
    if not isinstance(node, cst.SimpleStatementLine):
        return None
    level: list[cst.CSTNode] = [node]
    while level:
        one = level.pop(0)
        found = mask_of(one, facts)
        if found is not None:
            return found
        level.extend(one.children)
    return None


def _loads(node: cst.CSTNode, facts: Observed) -> bool:
    small = only_statement(node)
    return (
        isinstance(small, cst.Assign)
        and _mask_in(cst.SimpleStatementLine([cst.Expr(small.value)]), facts) is not None
    )


def only_statement(node: cst.CSTNode) -> cst.BaseSmallStatement | None:
    """Return the statement of a line that holds one."""
    if isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1:
        return node.body[0]
    return None


def target_of(small: cst.BaseSmallStatement | None) -> cst.BaseExpression | None:
    """Return what a statement assigns to, or updates."""
    if isinstance(small, cst.AugAssign):
        return small.target
    if isinstance(small, cst.Assign) and len(small.targets) == 1:
        return small.targets[0].target
    return None


def _names(node: cst.CSTNode) -> frozenset[str]:
    target = target_of(only_statement(node))
    return frozenset({target.value}) if isinstance(target, cst.Name) else frozenset()


def is_store(node: cst.CSTNode, facts: Observed) -> bool:
    """Return whether a statement stores into what a mask selects."""
    target = target_of(only_statement(node))
    return target is not None and mask_of(target, facts) is not None


def _is_number_stored(node: cst.CSTNode) -> bool:
    """Return whether a statement stores a number, which fills by the mask and breaks nothing."""
    small = only_statement(node)
    return isinstance(small, cst.Assign) and number(small.value) is not None
