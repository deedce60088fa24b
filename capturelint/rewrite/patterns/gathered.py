"""Rows at the positions where a mask is true, changed and put back: all rows, and the mask counts.

`rows = m.nonzero().squeeze(-1)` and `y[rows] += f(x[rows])` become
`y.copy_(torch.where(m[..., None], y + f(x), y))`. So do the turns of a loop over experts, with the weights
of `rows, ks = torch.where(sel == e)`, where the user allows that all experts run on all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import libcst as cst

from capturelint.rewrite.blocks import assigned_names, names_around, read_names, statements_of
from capturelint.rewrite.conditions import RefusedError, refuse
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.gathering import Gathering, stored_in
from capturelint.rewrite.lines import edit_of
from capturelint.rewrite.masks import HINT
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.positions import Positions, positions_in
from capturelint.rewrite.steep import HARMLESS, is_steep
from capturelint.rewrite.turns import choosing_loop, cost_of


@dataclass(frozen=True, slots=True)
class _Region:
    """Statements over positions. `replaced`: they, what binds positions, and tests of their number."""

    found: Positions
    replaced: Sequence[cst.BaseStatement]
    statements: Sequence[cst.BaseStatement]

    @property
    def node(self) -> cst.BaseStatement:
        """The statement that binds positions."""
        return self.replaced[0]


def sites(facts: Observed) -> list[cst.CSTNode]:
    """Return the statements that bind positions by which others store rows."""
    return [
        node for node in facts.nodes(cst.SimpleStatementLine) if _region(node, facts) is not None
    ]


def tests(node: cst.CSTNode, facts: Observed) -> list[cst.BaseExpression]:
    """Return the mask: some elements of it must have been true, and some not."""
    region = _region(node, facts)
    if region is None or any(one.dtype != "bool" for one in facts.seen(region.found.mask)):
        return []
    return [region.found.mask]


def match(node: cst.CSTNode, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:
    """Offer the statements for all rows."""
    region = _region(node, facts)
    if region is None:
        return ()
    try:
        notes = _cost(region, facts)
        is_guarded = facts.wants_gradients and any(is_steep(one) for one in region.statements)
        numbers = HARMLESS if is_guarded else ("", *HARMLESS)
        forms = [_form(region, facts, torch, numbers[0], notes)]
    except RefusedError as error:
        return error.refusal
    # Where a mask may be for other rows, one that is not fails.
    for is_sized in (False, True):
        with suppress(RefusedError):
            forms += [_form(region, facts, torch, one, notes, is_sized=is_sized) for one in numbers]
    return tuple(dict.fromkeys(forms))


def _cost(region: _Region, facts: Observed) -> tuple[str, ...]:
    mask = region.found.mask
    loop = choosing_loop(mask, region.node, facts)
    if loop is None:
        return ()
    sizes = [size for one in facts.seen(mask) for size in one.shape]
    choices = min(sizes) if len(region.found.names) == 2 else 1
    return (cost_of(loop, mask, choices, facts),)


def _form(
    region: _Region,
    facts: Observed,
    torch: str,
    harmless: str,
    notes: tuple[str, ...],
    *,
    is_sized: bool = False,
) -> Form:
    gathering = Gathering(
        *(region.found, region.statements, facts, torch, harmless), is_sized=is_sized
    )
    lines = [*gathering.head]
    for statement in region.statements:
        lines += gathering.lines(statement)
    outside = names_around(region.replaced, facts)
    for name in sorted(gathering.bound & outside):
        reason = f"`{name}`, which holds as many rows as the mask selects, is read elsewhere"
        raise refuse(facts, region.node, "ESCAPES", reason, HINT)
    return Form(Grade.PROVEN, (edit_of(region.node, region.replaced[-1], lines, facts),), notes)


def _region(node: cst.CSTNode, facts: Observed) -> _Region | None:
    """Return the statements over positions that a statement binds, None if nothing is stored."""
    found = positions_in(node, facts)
    block = next(facts.around(node))
    if found is None or not isinstance(block, cst.IndentedBlock):
        return None
    rest = list(block.body)[[id(one) for one in block.body].index(id(node)) :]
    names, last = frozenset(found.names) - {""}, 0
    for at, one in enumerate(rest[1:], start=1):
        if not read_names(one).isdisjoint(names):
            names |= assigned_names(one)
            last = at
    is_left = any(_is_left(one, found, facts) for one in rest[: last + 1])
    if is_left and (last < len(rest) - 1 or not isinstance(next(facts.around(block)), cst.For)):
        return None
    inner = tuple(_plain(rest[1 : last + 1], found, facts))
    is_stored = any(
        stored_in(one) is not None and not read_names(one).isdisjoint(names) for one in inner
    )
    return _Region(found, rest[: last + 1], inner) if is_stored else None


def _plain(
    rest: Sequence[cst.BaseStatement], found: Positions, facts: Observed
) -> Iterator[cst.BaseStatement]:
    """Yield statements without tests whether there are any rows, which all of them do without."""
    for one in rest:
        if _is_left(one, found, facts):
            continue
        if (
            isinstance(one, cst.If)
            and one.orelse is None
            and _counts(one.test, found, facts) == ">"
        ):
            yield from statements_of(one.body)
        else:
            yield one


def _is_left(node: cst.BaseStatement, found: Positions, facts: Observed) -> bool:
    """Return whether a statement goes on to the next turn if there are no rows."""
    if not isinstance(node, cst.If) or node.orelse is not None:
        return False
    (only, *more) = statements_of(node.body)
    small = only.body if isinstance(only, cst.SimpleStatementLine) else ()
    is_continue = len(small) == 1 and isinstance(small[0], cst.Continue) and not more
    return is_continue and _counts(node.test, found, facts) == "=="


def _counts(test: cst.BaseExpression, found: Positions, facts: Observed) -> str:
    """Return `==` for a test whether there are no positions, `>` whether there are some, else ""."""
    text = "".join(facts.text(test).split())
    for name in (one for one in found.names if one):
        for count in (f"{name}.numel()", f"len({name})", f"{name}.shape[0]", f"{name}.size(0)"):
            if text in (f"{count}==0", f"not{count}", f"0=={count}", f"{count}<1"):
                return "=="
            if text in (count, f"{count}>0", f"{count}!=0", f"0<{count}", f"{count}>=1"):
                return ">"
    return ""
