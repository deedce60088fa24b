"""Rows that a mask selects, changed and put back: all rows are computed, the mask says which count.

`y[m] = f(y[m])` is `y.copy_(torch.where(m, f(y), y))`, also under `if m.any():`, which such statements do
not need.
"""

from __future__ import annotations

from contextlib import suppress

import libcst as cst

from capturelint.rewrite.blocks import names_around, read_names
from capturelint.rewrite.conditions import RefusedError, refuse
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.lines import edit_of, ungrouped
from capturelint.rewrite.literals import number
from capturelint.rewrite.masks import HINT, ByMask, lifted, mask_of, rank
from capturelint.rewrite.merging import ROWS, SIGNS
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.regions import Region, is_store, only_statement, region_at, target_of
from capturelint.rewrite.rows import Rows
from capturelint.rewrite.steep import HARMLESS, is_steep
from capturelint.rewrite.turns import choosing_loop, cost_of, multiplies


def sites(facts: Observed) -> list[cst.CSTNode]:
    """Return the guards over masked statements, and the first of those that follow each other."""
    found: list[cst.CSTNode] = []
    for node in facts.nodes(cst.If, cst.SimpleStatementLine):
        if not any(one in found for one in facts.around(node)):
            region = region_at(node, facts)
            if region is not None:
                found.append(node)
    return found


def tests(node: cst.CSTNode, facts: Observed) -> list[cst.BaseExpression]:
    """Return the mask: some elements of it must have been true, and some not."""
    region = region_at(node, facts)
    return [] if region is None else [region.mask]


def match(node: cst.CSTNode, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:
    """Offer the statements for all rows."""
    region = region_at(node, facts)
    if region is None:
        return ()
    try:
        notes = _cost(region, facts)
        is_bare = facts.wants_gradients and any(is_steep(one) for one in region.statements)
        forms = [_form(region, facts, torch, HARMLESS[0] if is_bare else "", notes)]
    except RefusedError as error:
        return error.refusal
    with suppress(RefusedError):
        forms += [_form(region, facts, torch, one, notes) for one in HARMLESS]
    return tuple(dict.fromkeys(forms))


def _cost(region: Region, facts: Observed) -> tuple[str, ...]:
    """Return what it costs that all experts of a loop run on all rows, nothing if there are none."""
    loop = choosing_loop(region.mask, region.first, facts)
    if loop is None or not any(multiplies(one, facts) for one in region.statements):
        return ()
    return (cost_of(loop, region.mask, 1, facts),)


def _form(
    region: Region, facts: Observed, torch: str, harmless: str, notes: tuple[str, ...]
) -> Form:
    rows = Rows(ByMask(region.mask, facts), facts, torch, harmless)
    why = impurity(region.mask, facts)
    if why:
        raise refuse(facts, region.mask, "IMPURE", why, HINT)
    is_name = isinstance(region.mask, cst.Name)
    if len(region.statements) > 1 and not is_name:
        raise refuse(facts, region.mask, "MASK", "the mask has no name", HINT)
    stores = sum(is_store(one, facts) for one in region.statements)
    lines: list[str] = []
    for one in region.statements:
        line = _line(one, rows, region, facts, copies=stores > 1)
        lines += [*rows.lines, line]
        rows.lines = []
    outside = names_around((region.first, *region.statements), facts)
    for name in sorted(rows.packed & outside):
        reason = f"`{name}`, which holds as many rows as the mask selects, is read elsewhere"
        raise refuse(facts, region.first, "ESCAPES", reason, HINT)
    return Form(Grade.PROVEN, (edit_of(region.first, region.last, lines, facts),), notes)


def _line(
    statement: cst.BaseStatement, rows: Rows, region: Region, facts: Observed, *, copies: bool
) -> str:
    small = only_statement(statement)
    if isinstance(small, cst.Pass):
        return "pass"
    target = target_of(small)
    if isinstance(target, cst.Name) and isinstance(small, cst.Assign):
        is_shrunk = target.value in read_names(small.value) - rows.packed
        is_again = is_shrunk and facts.nearest(region.first, cst.For) is not None
        is_mask = target.value == facts.text(region.mask)
        if is_mask or is_again or not rows.is_packed(small.value):
            raise refuse(
                facts,
                statement,
                "STATEMENT",
                f"`{_head(statement, facts)}` is not over the mask",
                HINT,
            )
        text = rows.text(small.value) if copies else ungrouped(rows.text(small.value))
        rows.hold([target.value], small.value)
        # What was selected was a copy, which later writes did not reach.
        return f"{target.value} = {text}{'.clone()' if copies else ''}"
    if isinstance(target, cst.Subscript):
        mask = mask_of(target, facts)
        if mask is not None and facts.text(mask) == facts.text(region.mask):
            return _stored(small, target, rows, region, facts)
    raise refuse(
        facts, statement, "STATEMENT", f"`{_head(statement, facts)}` is not over the mask", HINT
    )


def _stored(
    small: cst.BaseSmallStatement | None,
    target: cst.Subscript,
    rows: Rows,
    region: Region,
    facts: Observed,
) -> str:
    """Return a store into what the mask selects, for all rows."""
    held = facts.text(target.value)
    why = impurity(target.value, facts)
    if why:
        raise refuse(facts, target, "IMPURE", why, HINT)
    if any(one.dtype == "bool" for one in facts.seen(target.value)):
        raise refuse(facts, target, "MASK", "what is written may be the mask itself", HINT)
    if isinstance(small, cst.Assign) and number(small.value) is not None:
        return facts.text(small)
    assert isinstance(small, cst.Assign | cst.AugAssign), "it has a target"
    if isinstance(small, cst.Assign):
        value = ungrouped(rows.text(small.value))
    else:
        sign = SIGNS.get(type(small.operator))
        if sign is None:
            raise refuse(facts, target, "STATEMENT", "this update has no plain form", HINT)
        before = rows.text(cst.ensure_type(target, cst.Subscript))
        value = f"{before} {sign} {rows.safe(small.value, small)}"
    chosen = lifted(region.mask, rank(target.value, facts), facts)
    return f"{held}.copy_({ROWS}({chosen}, {value}, {held}))"


def _head(node: cst.CSTNode, facts: Observed) -> str:
    return facts.text(node).split("\n")[0]
