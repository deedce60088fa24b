"""A loop of at most so many turns that a tensor ends early: all turns run, those after the end count not.

`for _ in range(n): x = f(x); if t: break` keeps `done_`, a truth value on the device, and `x` where it is
true. So does `while t and i < n:` with one `i += 1`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from capturelint.rewrite.aliasing import check_alias, writes_in
from capturelint.rewrite.bindings import is_parameter_or_bound_before
from capturelint.rewrite.blocks import (
    assigned_names,
    names_outside,
    read_names,
    renamed,
    statements_of,
)
from capturelint.rewrite.conditions import (
    RefusedError,
    check_evaluated_always,
    condition,
    reads_tensor,
    refuse,
)
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.guarding import guards
from capturelint.rewrite.lines import edit_of
from capturelint.rewrite.literals import number
from capturelint.rewrite.merging import WHERE
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.totality import partiality

_HINT = "run all turns, and keep with `torch.where` what was there when the loop was done"
_MAXIMUM = "choose a maximum number of turns"


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop as it is to be. `head`: without its colon. `ends`: tests that end it, by statement."""

    node: cst.For | cst.While
    head: str
    body: Sequence[cst.BaseStatement]
    test: cst.BaseExpression | None  # before each turn
    counter: str


def sites(facts: Observed) -> list[cst.CSTNode]:
    """Return the loops that a tensor ends."""
    found: list[cst.CSTNode] = []
    for node in facts.nodes(cst.For, cst.While):
        if isinstance(node, cst.For) and any(
            _break(one, facts) for one in statements_of(node.body)
        ):
            found.append(node)
        if isinstance(node, cst.While) and reads_tensor(facts, node.test):
            found.append(node)
    return found


def tests(node: cst.For | cst.While, facts: Observed) -> list[cst.BaseExpression]:
    """Return the conditions that end a loop."""
    found = [
        one.test
        for one in statements_of(node.body)
        if isinstance(one, cst.If) and _break(one, facts)
    ]
    if isinstance(node, cst.While) and isinstance(node.test, cst.BooleanOperation):
        found += [one for one in (node.test.left, node.test.right) if reads_tensor(facts, one)]
    return found


def match(node: cst.For | cst.While, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:
    """Offer the loop with all its turns."""
    try:
        loop = _for(node, facts) if isinstance(node, cst.For) else _while(node, facts)
        lines = _lines(loop, facts, torch)
    except RefusedError as error:
        return error.refusal
    return (Form(Grade.PROVEN, (edit_of(node, node, lines, facts),)),)


def _break(node: cst.BaseStatement, facts: Observed) -> bool:
    """Return whether a statement ends the loop around it if a tensor says so."""
    if not isinstance(node, cst.If) or node.orelse is not None:
        return False
    body = statements_of(node.body)
    is_break = len(body) == 1 and isinstance(body[0], cst.SimpleStatementLine)
    small = body[0].body if is_break and isinstance(body[0], cst.SimpleStatementLine) else ()
    return len(small) == 1 and isinstance(small[0], cst.Break) and reads_tensor(facts, node.test)


def _for(node: cst.For, facts: Observed) -> _Loop:
    call = node.iter
    if not isinstance(call, cst.Call) or facts.full_name(call.func) != "builtins.range":
        raise refuse(facts, node, "TURNS", "it goes over something else than a range", _HINT)
    if node.orelse is not None or not isinstance(node.target, cst.Name):
        raise refuse(facts, node, "TURNS", "it has an `else`, or several names", _HINT)
    outside = names_outside(node, facts)
    if node.target.value in outside:
        raise refuse(facts, node, "TURNS", f"`{node.target.value}` is read after the loop", _HINT)
    head = f"for {node.target.value} in {facts.text(call)}"
    return _Loop(node, head, statements_of(node.body), None, node.target.value)


def _while(node: cst.While, facts: Observed) -> _Loop:
    test = node.test
    sides = [test.left, test.right] if isinstance(test, cst.BooleanOperation) else []
    is_and = isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And)
    tensors = [one for one in sides if reads_tensor(facts, one)]
    counts = [one for one in sides if one not in tensors]
    if not is_and or len(tensors) != 1 or node.orelse is not None:
        raise refuse(facts, node, "TURNS", "nothing but a tensor bounds its turns", _MAXIMUM)
    name, most = _count(counts[0], node, facts)
    body = [one for one in statements_of(node.body) if not _adds_one(one, name)]
    if len(statements_of(node.body)) - len(body) != 1:
        raise refuse(facts, node, "TURNS", f"`{name}` is not counted once a turn", _HINT)
    if any(name in read_names(one) for one in body) or name in _read_after(node, facts):
        raise refuse(facts, node, "TURNS", f"`{name}` is read elsewhere too", _HINT)
    head = f"for {facts.fresh('_')} in range({name}, {most})"
    return _Loop(node, head, body, tensors[0], name)


def _count(test: cst.BaseExpression, node: cst.While, facts: Observed) -> tuple[str, str]:
    """Return the counter of a loop and the number that it stays below."""
    if (
        isinstance(test, cst.Comparison)
        and len(test.comparisons) == 1
        and isinstance(test.comparisons[0].operator, cst.LessThan)
        and isinstance(test.left, cst.Name)
    ):
        most = test.comparisons[0].comparator
        seen = facts.seen(most)
        is_int = all(one.kind == "number" and one.name == "int" for one in seen)
        is_known = type(number(most)) is int or (bool(seen) and is_int)
        is_fixed = isinstance(most, cst.Attribute | cst.Name | cst.Integer)
        if is_known and is_fixed and read_names(most).isdisjoint(assigned_names(node)):
            return test.left.value, facts.text(most)
    raise refuse(facts, node, "TURNS", "no number bounds its turns", _MAXIMUM)


def _adds_one(statement: cst.BaseStatement, name: str) -> bool:
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    return (
        isinstance(small, cst.AugAssign)
        and isinstance(small.operator, cst.AddAssign)
        and isinstance(small.target, cst.Name)
        and small.target.value == name
        and number(small.value) == 1
    )


def _lines(loop: _Loop, facts: Observed, torch: str) -> list[str]:
    node = loop.node
    if any(isinstance(one, cst.Try | cst.TryStar) for one in facts.around(node)):
        raise refuse(facts, node, "TRY", "it stands in a `try`, which errors may leave", _HINT)
    for write in (one for statement in loop.body for one in writes_in(statement)):
        what = facts.text(write).split("\n")[0]
        raise refuse(facts, node, "WRITES", f"`{what}` writes in place", _HINT)
    check_alias(node, facts)
    kept = _kept(loop, facts)
    done = facts.fresh("done_")
    device = next(
        (name for name in sorted(kept) if is_parameter_or_bound_before(facts.tree, name, node)), ""
    )
    if not device or any(not is_parameter_or_bound_before(facts.tree, name, node) for name in kept):
        reason = "what it leaves behind has no value before the first turn"
        raise refuse(facts, node, "UNBOUND", reason, _HINT)
    lines = [f"{done} = {torch}.zeros((), dtype={torch}.bool, device={device}.device)"]
    lines.append(f"{loop.head}:")
    if loop.test is not None:
        check_evaluated_always(facts, loop.test)
        ended = condition(facts, loop.test, torch)
        lines.append(f"    {done} = {done} | {torch}.logical_not({ended})")
    for statement in loop.body:
        lines += [f"    {line}" for line in _turn(statement, kept, done, facts, torch)]
    return lines


def _turn(
    statement: cst.BaseStatement, kept: frozenset[str], done: str, facts: Observed, torch: str
) -> list[str]:
    """Return a statement of a turn; what the loop leaves behind is kept once it is done."""
    if isinstance(statement, cst.If) and _break(statement, facts):
        check_evaluated_always(facts, statement.test)
        text = condition(facts, statement.test, torch)
        is_call = text.startswith(f"{torch}.") or text.isidentifier()
        return [f"{done} = {done} | {text if is_call else f'({text})'}"]
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        raise refuse(facts, statement, "CONTROL", "it holds another loop or branch", _HINT)
    small = statement.body[0]
    target = small.targets[0].target if isinstance(small, cst.Assign) else None
    if (
        not isinstance(small, cst.Assign)
        or len(small.targets) > 1
        or not isinstance(target, cst.Name)
    ):
        what = facts.text(statement).split("\n")[0]
        raise refuse(facts, statement, "STATEMENT", f"it does more than assign: `{what}`", _HINT)
    if not facts.seen(small.value) or not facts.is_tensor(small.value):
        what = facts.text(small.value)
        raise refuse(facts, small, "NUMBER", f"`{what}` is no tensor, or never ran", _HINT)
    why = impurity(small.value, facts) or partiality(small.value, facts)
    if why:
        raise refuse(facts, small, "IMPURE", why, _HINT)
    lines, held = guards(small.value, done, facts, torch)
    name, text = target.value, renamed(facts, small.value, held)
    chosen = f"{WHERE}({done}, {name}, {text})" if name in kept else text
    return [*lines, f"{name} = {chosen}"]


def _kept(loop: _Loop, facts: Observed) -> frozenset[str]:
    """Return the names that a loop assigns and that are read after it, or in the next turn."""
    assigned = frozenset[str]()
    carried = frozenset[str]()
    known = frozenset[str]()
    for statement in loop.body:
        read = _value_names(statement)
        carried |= read - known
        known |= assigned_names(statement)
        assigned |= assigned_names(statement)
    if loop.test is not None:
        carried |= read_names(loop.test)
    return assigned & (carried | names_outside(loop.node, facts))


def _value_names(statement: cst.BaseStatement) -> frozenset[str]:
    if isinstance(statement, cst.If):
        return read_names(statement.test)
    if isinstance(statement, cst.SimpleStatementLine):
        values = [one.value for one in statement.body if isinstance(one, cst.Assign)]
        return frozenset[str]().union(*(read_names(one) for one in values))
    return read_names(statement)


def _read_after(node: cst.While, facts: Observed) -> frozenset[str]:
    """Return the names that are read after a loop, or all if another loop comes back to it."""
    if any(isinstance(one, cst.For | cst.While) for one in facts.around(node)):
        return names_outside(node, facts)
    end = facts.span(node).end_line
    return frozenset(
        one.value
        for one in facts.nodes(cst.Name)
        if isinstance(one, cst.Name) and facts.span(one).line > end
    )
