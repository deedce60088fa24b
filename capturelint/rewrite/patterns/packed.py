"""Rows that are put, one after the other, where a mask is true: `x[m] = rows` as `masked_scatter_`."""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.blocks import read_names
from capturelint.rewrite.conditions import RefusedError, grouped, refuse
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.lines import edit_of
from capturelint.rewrite.masks import lifted, mask_of, rank
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.regions import only_statement, target_of
from capturelint.rewrite.totality import partiality

_HINT = "gather with `torch.where` from positions: `(m.cumsum(0) - 1).clamp(min=0)`"
_NOTE = (
    "unsafe: where a mask has more places than there are rows, `masked_scatter_` raises nothing: a device"
    " assertion ends the CUDA context of the process; where it has fewer, the rest is left out silently"
)
_OFFER = (
    "`--unsafe-fixes` writes `masked_scatter_`, which ends the CUDA context of the process where there are"
    " too few rows, and leaves out rows silently where there are too many"
)


def sites(facts: Observed) -> list[cst.CSTNode]:
    """Return the statements that store rows, one for each place of a mask."""
    return [node for node in facts.nodes(cst.SimpleStatementLine) if _parts(node, facts)]


def tests(node: cst.CSTNode, facts: Observed) -> list[cst.BaseExpression]:
    """Return the mask: some elements of it must have been true, and some not."""
    parts = _parts(node, facts)
    return [] if parts is None else [parts[1]]


def match(node: cst.CSTNode, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:  # noqa: ARG001
    """Offer the rows put in order, if the user allows it."""
    parts = _parts(node, facts)
    assert parts is not None, "that makes it a site"
    try:
        line = _line(node, *parts, facts)
    except RefusedError as error:
        return error.refusal
    return (Form(Grade.UNSAFE, (edit_of(node, node, [line], facts),), (_NOTE,)),)


def _line(
    node: cst.CSTNode,
    held: cst.BaseExpression,
    mask: cst.BaseExpression,
    rows: cst.BaseExpression,
    facts: Observed,
) -> str:
    if not facts.allowed.unsafe_fixes:
        what = facts.text(rows).split("\n")[0]
        reason = f"`{what}` has as many rows as the mask has places"
        raise refuse(facts, node, "PACKED", reason, _OFFER)
    if facts.trains:
        raise refuse(facts, node, "BACKWARD", "the backward of `masked_scatter_` waits too", _HINT)
    for one in (held, mask):
        if why := impurity(one, facts) or partiality(one, facts):
            raise refuse(facts, one, "IMPURE", why, _HINT)
    if not read_names(held).isdisjoint(read_names(rows)):
        raise refuse(facts, rows, "OVERLAP", "it reads what it writes to", _HINT)
    rest = rank(held, facts) - rank(mask, facts)
    whole = {(one.dtype, one.shape[len(one.shape) - rest :]) for one in facts.seen(held)}
    given = {(one.dtype, one.shape[1:]) for one in facts.seen(rows)}
    is_one = any(one.shape[:1] == (1,) for one in facts.seen(rows))
    if whole != given or len(given) != 1 or is_one:
        reason = "what is stored may be one row for all places, or of another type"
        raise refuse(facts, rows, "SHAPE", reason, _HINT)
    text = facts.text(held)
    places = lifted(mask, rank(held, facts), facts)
    places = f"{places}.expand_as({text})" if rest else places
    return f"{grouped(held, text)}.masked_scatter_({places}, {facts.text(rows)})"


def _parts(
    node: cst.CSTNode, facts: Observed
) -> tuple[cst.BaseExpression, cst.BaseExpression, cst.BaseExpression] | None:
    """Return what rows are stored in, the mask, and the rows, which no mask selects; else None."""
    small = only_statement(node)
    target = target_of(small)
    mask = mask_of(target, facts) if target is not None else None
    if not isinstance(small, cst.Assign) or not isinstance(target, cst.Subscript) or mask is None:
        return None
    is_rows = facts.is_tensor(small.value) and all(one.shape for one in facts.seen(small.value))
    return (
        (target.value, mask, small.value) if is_rows and not _selects(small.value, facts) else None
    )


def _selects(node: cst.CSTNode, facts: Observed) -> bool:
    return mask_of(node, facts) is not None or any(_selects(one, facts) for one in node.children)
