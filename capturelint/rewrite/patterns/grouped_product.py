"""A grouped matrix product, each of whose groups is a run of rows: all products, and each row picks its own.

`grouped_mm(x, w, offs=ends)` copies the offsets to the host unless it computes in bfloat16. With them on the
device it is `torch.matmul(x, w)[group, row]`, which costs as many times the work as there are groups.
Offsets grow, as `grouped_mm` wants them, so that the group of a row is the number of ends up to it.
Where gradients may be asked for, rows are zeros in products of other groups: an infinite one would put NaN into
the gradients of all.
"""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit, Span
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.site import Site, is_repeatable
from capturelint.rewrite.turns import in_words, refusal_of
from capturelint.rule import argument, method_call

_PRODUCTS = ("torch.nn.functional.grouped_mm", "torch._grouped_mm")
_WAITING = frozenset(("float32", "float16"))
_HINT = "compute in bfloat16, or multiply the rows of each group by themselves"
_NOTES = (
    "rows behind the last offset, which held nothing, hold products of the last group",
    "in bfloat16 the old product waits for nothing, and does less",
)


def sites(facts: Observed) -> list[cst.Call]:
    """Return the grouped products by offsets that are copied to the host."""
    calls = (one for one in facts.nodes(cst.Call) if isinstance(one, cst.Call))
    return [one for one in calls if _waits(one, facts)]


def tests(node: cst.Call, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: there is one way."""
    return []


def match(node: cst.Call, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:
    """Offer all products, of which each row picks one."""
    site = Site("", node, facts)
    words = [arg.keyword.value if arg.keyword is not None else "" for arg in node.args]
    if words != ["", "", "offs"]:
        return site.refusal("ARGUMENTS", "it has arguments besides its offsets", _HINT)
    rows, weights, ends = (arg.value for arg in node.args)
    ranks = [{len(one.shape) for one in facts.seen(given)} for given in (rows, weights, ends)]
    if ranks != [{2}, {3}, {1}]:
        return site.refusal("SHAPE", "it is no product of rows with a matrix for each group", _HINT)
    why = impurity(rows, facts) or impurity(weights, facts)
    if why:
        return site.refusal("IMPURE", why, "give it a name before")
    counted, statement = _counted(rows), facts.nearest(node, cst.SimpleStatementLine)
    if not is_repeatable(counted, facts) or not is_repeatable(ends, facts):
        return site.refusal("TWICE", "its rows or its offsets have no name", "give them one before")
    is_alone = isinstance(next(facts.around(node)), cst.Return | cst.Assign)
    if statement is None or len(statement.body) > 1 or not is_alone:
        return site.refusal("ORDER", "it is a part of something else", "give it a name before")
    groups = max(one.shape[0] for one in facts.seen(weights))
    if not facts.allowed.all_experts:
        return site.refusal("COST", *refusal_of(groups, 1))
    lines, product = _written(node, facts.text(counted), facts, torch)
    span = facts.span(statement.body[0])
    start = Span(span.line, span.column, span.line, span.column)
    indent = facts.source.line(span.line)[: span.column]
    before = Edit(start, "".join(f"{line}\n{indent}" for line in lines))
    form = site.form(Grade.PROVEN, before, Edit(facts.span(node), product))
    if isinstance(form, Refusal):
        return form
    return (Form(Grade.PROVEN, form[0].edits, (in_words(groups, 1), *_NOTES)),)


def _written(node: cst.Call, counted: str, facts: Observed, torch: str) -> tuple[list[str], str]:
    """Return the lines before a product, and what it becomes. `counted`: what has as many rows."""
    rows, weights, ends = (facts.text(arg.value) for arg in node.args)
    row, group, own = (facts.fresh(name) for name in ("row_", "group_", "own_"))
    lines = [
        f"{row} = {torch}.arange({counted}.shape[0], device={ends}.device)",
        f"{group} = ({row}[:, None] >= {ends}[:-1]).sum(-1)",
    ]
    if facts.wants_gradients:
        every = f"{torch}.arange({ends}.shape[0], device={ends}.device)"
        lines.append(f"{own} = ({group} == {every}[:, None])[..., None]")
        rows = f"{torch}.where({own}, {rows}, 0)"
    return lines, f"{torch}.matmul({rows}, {weights})[{group}, {row}]"


def _waits(node: cst.Call, facts: Observed) -> bool:
    if facts.full_name(node.func) not in _PRODUCTS or len(node.args) < 3:
        return False
    seen = facts.seen(node.args[0].value)
    is_copied = any(one.dtype in _WAITING for one in seen)
    ends = argument(node, "offs")
    return is_copied and ends is not None and facts.value(ends).is_device_tensor


def _counted(rows: cst.BaseExpression) -> cst.BaseExpression:
    """Return what has as many rows: what is converted, in place of what it is converted to."""
    while isinstance(rows, cst.Call):
        called = method_call(rows)
        if called is None or called[1] != "to":
            break
        rows = called[0]
    return rows
