"""Rows that are filled up to, or from, a length of each: one fill by a mask of positions.

`for i in range(m.shape[0]): m[i, :n[i]] = 1` is
`m.masked_fill_(torch.arange(m.shape[1], device=m.device) < n[:, None], 1)`. A negative length counts from the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from capturelint.rewrite.all_rows import goes_over_all
from capturelint.rewrite.bindings import Way, bindings
from capturelint.rewrite.blocks import names_in, statements_of
from capturelint.rewrite.conditions import RefusedError, grouped, read_tensor, refuse
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.lines import edit_of
from capturelint.rewrite.literals import number
from capturelint.rewrite.masks import is_everything
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.regions import only_statement
from capturelint.rewrite.totality import partiality
from capturelint.rule import method_call

_HINT = "fill once, by a mask: `torch.arange(size, device=...) < lengths[:, None]`"
_INTEGERS = frozenset(("int8", "int16", "int32", "int64"))


@dataclass(frozen=True, slots=True)
class _Fill:
    """One statement. `sign`: of the comparison of positions with lengths."""

    held: cst.BaseExpression
    lengths: cst.BaseExpression
    sign: str
    value: cst.BaseExpression


def sites(facts: Observed) -> list[cst.For]:
    """Return the loops that only fill a part of each row, as long as a tensor on the device says."""
    found: list[cst.For] = []
    for node in facts.nodes(cst.For):
        assert isinstance(node, cst.For), "only those were asked for"
        if _fills(node, facts):
            found.append(node)
    return found


def tests(node: cst.For, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: there is one way."""
    return []


def match(node: cst.For, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:
    """Offer a fill by a mask for each statement."""
    try:
        if node.orelse is not None or node.asynchronous is not None:
            raise refuse(facts, node, "TURNS", "it has an `else`", _HINT)
        for name in names_in(node.target):
            if any(_is_other(one, name.value, node, facts) for one in facts.nodes(cst.Name)):
                reason = f"`{name.value}` is read elsewhere too"
                raise refuse(facts, node, "TURNS", reason, _HINT)
        each = [
            [
                line
                for fill in _fills(node, facts)
                for line in _lines(fill, node, facts, torch, rows)
            ]
            for rows in ("", _turns(node, facts))
        ]
    except RefusedError as error:
        return error.refusal
    return tuple(Form(Grade.PROVEN, (edit_of(node, node, lines, facts),)) for lines in each)


def _turns(node: cst.For, facts: Observed) -> str:
    """Return how many turns a loop has: there may be more rows than lengths, or more lengths than rows."""
    _, _, over = _heads(node, facts)
    if over is not None:
        return f"{grouped(over, facts.text(over))}.shape[0]"
    assert isinstance(node.iter, cst.Call), "only loops over calls are found"
    return facts.text(node.iter.args[0].value)


def _is_other(one: cst.CSTNode, name: str, node: cst.For, facts: Observed) -> bool:
    """Return whether a node is a name that is read or bound where no loop binds it."""
    if not isinstance(one, cst.Name) or one.value != name:
        return False
    loops = [loop for loop in facts.around(one) if isinstance(loop, cst.For)]
    return not any(
        loop is node or name in {part.value for part in names_in(loop.target)} for loop in loops
    )


def _fills(node: cst.For, facts: Observed) -> Sequence[_Fill]:
    """Return what the statements of a loop fill, nothing if one of them does anything else."""
    row, length, over = _heads(node, facts)
    found = [_fill(one, row, length, over, facts) for one in statements_of(node.body)]
    whole = [one for one in found if one is not None]
    return whole if row and len(whole) == len(found) else ()


def _heads(node: cst.For, facts: Observed) -> tuple[str, str, cst.BaseExpression | None]:
    """Return the names of the row and of its length in a turn, and what the lengths are items of."""
    call = node.iter
    if not isinstance(call, cst.Call) or len(call.args) != 1 or call.args[0].keyword is not None:
        return "", "", None
    name, given = facts.full_name(call.func), call.args[0].value
    if name == "builtins.range" and isinstance(node.target, cst.Name):
        return node.target.value, "", None
    parts = node.target.elements if isinstance(node.target, cst.Tuple) else ()
    names = [one.value.value for one in parts if isinstance(one.value, cst.Name)]
    if name != "builtins.enumerate" or len(names) != len(parts) or len(names) != 2:
        return "", "", None
    called = method_call(given) if isinstance(given, cst.Call) else None
    is_list = (
        called is not None
        and called[1] == "tolist"
        and isinstance(given, cst.Call)
        and not given.args
    )
    return names[0], names[1], called[0] if called is not None and is_list else given


def _fill(
    statement: cst.BaseStatement,
    row: str,
    length: str,
    over: cst.BaseExpression | None,
    facts: Observed,
) -> _Fill | None:
    small = only_statement(statement)
    if not isinstance(small, cst.Assign) or len(small.targets) > 1:
        return None
    target = small.targets[0].target
    if not isinstance(target, cst.Subscript) or number(small.value) is None:
        return None
    held, indices = target.value, [*target.slice]
    if isinstance(held, cst.Subscript) and len(indices) == len(held.slice) == 1:
        # `m[i][:n]` fills the same as `m[i, :n]`.
        indices = [*held.slice, *indices]
        held = held.value
    first, *rest = (one.slice for one in indices)
    is_row = isinstance(first, cst.Index) and facts.text(first.value) == row
    part = rest[0] if rest else first
    if not is_row or not isinstance(part, cst.Slice) or part.step is not None:
        return None
    given = [one for one in (part.lower, part.upper) if one is not None]
    if len(given) != 1 or not all(is_everything(one) for one in rest[1:]):
        return None
    lengths = _lengths(given[0], row, length, over, facts)
    sign = "<" if part.lower is None else ">="
    return None if lengths is None else _Fill(held, lengths, sign, small.value)


def _lengths(
    bound: cst.BaseExpression,
    row: str,
    length: str,
    over: cst.BaseExpression | None,
    facts: Observed,
) -> cst.BaseExpression | None:
    """Return the tensor of lengths of which a bound is the one of a row, None for another bound."""
    bound = read_tensor(facts, bound) or bound
    if over is not None:
        is_item = isinstance(bound, cst.Name) and bound.value == length
        return over if is_item and facts.value(over).is_device_tensor else None
    if not isinstance(bound, cst.Subscript) or len(bound.slice) != 1:
        return None
    index = bound.slice[0].slice
    is_row = isinstance(index, cst.Index) and facts.text(index.value) == row
    return bound.value if is_row and facts.value(bound.value).is_device_tensor else None


def _lines(fill: _Fill, node: cst.For, facts: Observed, torch: str, rows: str) -> Iterator[str]:
    """Yield the lines of one fill, of so many rows if they are given. Raises `RefusedError`."""
    for one in (fill.held, fill.lengths):
        if why := impurity(one, facts) or partiality(one, facts):
            raise refuse(facts, one, "IMPURE", why, _HINT)
    held, lengths = (facts.text(one) for one in (fill.held, fill.lengths))
    shapes = {one.shape for one in facts.seen(fill.held)}
    counts = {one.shape for one in facts.seen(fill.lengths)}
    kinds = {one.dtype for one in facts.seen(fill.lengths)}
    if len(shapes) != 1 or len(counts) != 1 or not facts.is_tensor(fill.held):
        raise refuse(facts, node, "SHAPE", f"`{held}` or `{lengths}` varies in shape", _HINT)
    (shape,), (count,) = shapes, counts
    if len(shape) < 2 or count != shape[:1] or not kinds <= _INTEGERS:
        reason = f"`{lengths}` is not one length for each row of `{held}`"
        raise refuse(facts, node, "SHAPE", reason, _HINT)
    if not goes_over_all(node, (fill.held, fill.lengths), shape[0], facts):
        what = facts.text(node.iter)
        raise refuse(facts, node, "TURNS", f"`{what}` may not go over all rows", _HINT)
    _check_value(fill, facts)
    ends = grouped(fill.lengths, lengths)
    if rows and rows != f"{ends}.shape[0]":
        ends = f"{ends}[:{rows}]"
    if not _is_count(fill.lengths, facts):
        name = facts.fresh("ends_")
        # Beyond a row of many columns, small integers would wrap around.
        wide = f"{ends}.long()" if kinds & {"int8", "int16"} else ends
        yield f"{name} = {torch}.where({ends} < 0, {wide} + {held}.shape[1], {wide})"
        ends = name
    places = f"{torch}.arange({held}.shape[1], device={held}.device) {fill.sign} {ends}[:, None]"
    if len(shape) > 2:
        places = f"({places})[...{', None' * (len(shape) - 2)}]"
    if rows and rows != f"{held}.shape[0]":
        held = f"{held}[:{rows}]"
    yield f"{held}.masked_fill_({places}, {facts.text(fill.value)})"


def _check_value(fill: _Fill, facts: Observed) -> None:
    """Raise unless a number is stored as it is filled in."""
    value = number(fill.value)
    kinds = {one.dtype for one in facts.seen(fill.held)}
    is_fit = (
        all("float" in one for one in kinds)
        or (kinds == {"bool"} and value in (0, 1))
        or (kinds <= _INTEGERS and isinstance(value, int) and abs(value) < 128)
    )
    if not is_fit:
        what = facts.text(fill.value)
        raise refuse(facts, fill.value, "VALUE", f"`{what}` is converted where it is stored", _HINT)


def _is_count(node: cst.BaseExpression, facts: Observed) -> bool:
    """Return whether a tensor counts what is true, and so is never negative."""
    if isinstance(node, cst.Name):
        places = bindings(facts.tree, node.value) or []
        is_once = len(places) == 1 and places[0].way is Way.VALUE
        return (
            is_once
            and not isinstance(places[0].source, cst.Name)
            and _is_count(places[0].source, facts)
        )
    called = method_call(node) if isinstance(node, cst.Call) else None
    if called is None or called[1] not in ("sum", "count_nonzero"):
        return False
    return all(one.dtype == "bool" for one in facts.seen(called[0])) and bool(facts.seen(called[0]))
