"""A branch that writes in place: each write runs, and puts back what was there if it does not count.

`if t: x += y` is `x.copy_(torch.where(t, x + y, x))`: whoever else holds that memory sees the right thing.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from capturelint.rewrite.blocks import else_of, statements_of
from capturelint.rewrite.conditions import (
    RefusedError,
    condition,
    conditions_in,
    grouped,
    reads_tensor,
    refuse,
)
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.lines import edit_of, inlined
from capturelint.rewrite.literals import number
from capturelint.rewrite.masks import mask_of
from capturelint.rewrite.merging import SIGNS, WHERE
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity, is_pure_method_name
from capturelint.rewrite.steep import HINT as STEEP_HINT
from capturelint.rewrite.steep import is_steep
from capturelint.rewrite.totality import partiality
from capturelint.rule import method_call

# In place these change no contents, but how memory is looked at, or the graph of gradients.
_OF_SHAPE = frozenset(("detach", "t", "transpose", "squeeze", "unsqueeze", "swapaxes", "permute"))
_HINT = "write the branch by hand, with `torch.where` and `copy_`"


def sites(facts: Observed) -> list[cst.If]:
    """Return the branches on tensors all of whose arms write in place."""
    found: list[cst.If] = []
    for node in facts.nodes(cst.If):
        assert isinstance(node, cst.If), "only those were asked for"
        arms = [*statements_of(node.body), *else_of(node)]
        inside = any(one in found for one in facts.around(node))
        if not inside and reads_tensor(facts, node.test) and all(_is_write(one) for one in arms):
            found.append(node)
    return found


def tests(node: cst.If, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return the condition."""
    return conditions_in(node)


def match(node: cst.If, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:
    """Offer writes that count if the condition holds."""
    try:
        if any(isinstance(one, cst.Try | cst.TryStar) for one in facts.around(node)):
            raise refuse(facts, node, "TRY", "it stands in a `try`, which errors may leave", _HINT)
        if _is_elif(node, facts):
            raise refuse(facts, node, "ELIF", "it is an `elif`", _HINT)
        return (Form(Grade.PROVEN, (edit_of(node, node, _lines(node, facts, torch), facts),)),)
    except RefusedError as error:
        return error.refusal


def _lines(node: cst.If, facts: Observed, torch: str) -> list[str]:
    cond = facts.fresh("cond_")
    lines = [f"{cond} = {condition(facts, node.test, torch)}"]
    arms = (cond, statements_of(node.body)), (f"{torch}.logical_not({cond})", else_of(node))
    for selected, arm in arms:
        for statement in arm:
            lines += [_predicated(one, selected, facts, torch) for one in _parts(statement, facts)]
    if len(lines) == 2:
        return inlined(lines)
    if not isinstance(node.test, cst.Comparison | cst.BooleanOperation | cst.UnaryOperation):
        # The first write may be to what is tested.
        lines[0] = f"{cond} = ({condition(facts, node.test, torch)}).clone()"
    return lines


def _parts(statement: cst.BaseStatement, facts: Observed) -> Sequence[cst.BaseSmallStatement]:
    if not isinstance(statement, cst.SimpleStatementLine):
        raise refuse(facts, statement, "CONTROL", "an arm holds a loop or another branch", _HINT)
    return [one for one in statement.body if not isinstance(one, cst.Pass)]


def _predicated(small: cst.BaseSmallStatement, cond: str, facts: Observed, torch: str) -> str:
    """Return a write that counts if `cond` holds. Raises `RefusedError`."""
    target, value = _write(small, facts, torch)
    if facts.wants_gradients and is_steep(small):
        reason = f"`{facts.text(small)}` may put NaN into gradients where it does not count"
        raise refuse(facts, small, "STEEP", reason, STEEP_HINT)
    if isinstance(target, cst.Subscript) and not facts.is_tensor(target.value):
        reason = f"`{facts.text(target.value)}` is no tensor, whose slots are bound anew"
        raise refuse(facts, small, "SLOT", reason, _HINT)
    held = facts.text(target)
    mask = mask_of(target, facts)
    if mask is not None:
        return _under_mask(small, target, mask, cond, facts)
    _check_pure(target, facts)
    return f"{held}.copy_({WHERE}({cond}, {value}, {held}))"


def _write(
    small: cst.BaseSmallStatement, facts: Observed, torch: str
) -> tuple[cst.BaseExpression, str]:
    """Return what a statement writes to, and the text of what it writes."""
    if isinstance(small, cst.AugAssign):
        sign = SIGNS.get(type(small.operator))
        if sign is None:
            raise refuse(facts, small, "STATEMENT", "this update has no plain form", _HINT)
        _check_value(small.value, facts)
        value = grouped(small.value, facts.text(small.value))
        return small.target, f"{facts.text(small.target)} {sign} {value}"
    if isinstance(small, cst.Assign):
        target = small.targets[0].target
        held = facts.text(target)
        if number(small.value) is not None:
            return target, f"{torch}.full_like({held}, {facts.text(small.value)})"
        _check_value(small.value, facts)
        return target, f"{grouped(small.value, facts.text(small.value))}.expand_as({held})"
    assert isinstance(small, cst.Expr) and isinstance(small.value, cst.Call), "it is a write"
    return _method(small.value, facts, torch)


def _method(call: cst.Call, facts: Observed, torch: str) -> tuple[cst.BaseExpression, str]:
    """Return what a method writes to, and its result as a new tensor."""
    called = method_call(call)
    assert called is not None, "it is a method"
    target, name = called[0], called[1].removesuffix("_")
    held = facts.text(target)
    for arg in call.args:
        _check_value(arg.value, facts)
    if not facts.is_tensor(target):
        raise refuse(facts, call, "UNSEEN", f"`{held}` never ran, or is no tensor", _HINT)
    given = ", ".join(facts.text(arg) for arg in call.args)
    if name == "zero":
        return target, f"{torch}.zeros_like({held})"
    if name == "fill" and len(call.args) == 1 and number(call.args[0].value) is not None:
        return target, f"{torch}.full_like({held}, {given})"
    if name == "copy" and len(call.args) == 1 and facts.is_tensor(call.args[0].value):
        source = call.args[0].value
        return target, f"{grouped(source, given)}.expand_as({held})"
    if not is_pure_method_name(name) or name in _OF_SHAPE:
        raise refuse(facts, call, "STATEMENT", f"`{called[1]}` has no plain form", _HINT)
    return target, f"{grouped(target, held)}.{name}({given})"


def _under_mask(
    small: cst.BaseSmallStatement,
    target: cst.BaseExpression,
    mask: cst.BaseExpression,
    cond: str,
    facts: Observed,
) -> str:
    """Return a store by a mask, with the condition in the mask."""
    if not isinstance(target, cst.Subscript) or not isinstance(small, cst.Assign | cst.AugAssign):
        raise refuse(facts, small, "STATEMENT", "it writes to what a mask selects", _HINT)
    if number(small.value) is None:
        raise refuse(facts, small, "STATEMENT", "more than a number is stored by a mask", _HINT)
    _check_pure(target.value, facts)
    _check_value(mask, facts)
    held, both = facts.text(target.value), f"{grouped(mask, facts.text(mask))} & {cond}"
    sign = "=" if isinstance(small, cst.Assign) else f"{SIGNS[type(small.operator)]}="
    return f"{held}[{both}] {sign} {facts.text(small.value)}"


def _check_value(node: cst.BaseExpression, facts: Observed) -> None:
    if number(node) is None and not facts.seen(node):
        raise refuse(facts, node, "UNSEEN", f"`{facts.text(node)}` never ran", _HINT)
    why = impurity(node, facts) or partiality(node, facts)
    if why:
        raise refuse(facts, node, "IMPURE", why, _HINT)


def _check_pure(target: cst.BaseExpression, facts: Observed) -> None:
    """Raise unless a target can be read besides being written."""
    why = impurity(target, facts) or partiality(target, facts)
    if why:
        raise refuse(facts, target, "IMPURE", why, _HINT)
    if isinstance(target, cst.Subscript):
        for element in target.slice:
            index = element.slice
            if isinstance(index, cst.Index) and not _is_basic(index.value, facts):
                raise refuse(facts, target, "INDEX", "an index may be more than an integer", _HINT)


def _is_basic(index: cst.BaseExpression, facts: Observed) -> bool:
    if isinstance(index, cst.Ellipsis) or type(number(index)) is int:
        return True
    seen = facts.seen(index)
    return bool(seen) and all(one.kind == "number" and one.name == "int" for one in seen)


def _is_write(statement: cst.BaseStatement) -> bool:
    """Return whether a statement does nothing but write to tensors in place."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    return all(_is_small_write(one) for one in statement.body)


def _is_small_write(small: cst.BaseSmallStatement) -> bool:
    if isinstance(small, cst.Pass):
        return True
    if isinstance(small, cst.AugAssign):
        return isinstance(small.target, cst.Name | cst.Subscript | cst.Attribute)
    if isinstance(small, cst.Assign):
        return len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Subscript)
    if not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
        return False
    called = method_call(small.value)
    return called is not None and called[1].endswith("_") and not called[1].endswith("__")


def _is_elif(node: cst.If, facts: Observed) -> bool:
    parent = next(facts.around(node))
    return isinstance(parent, cst.If) and parent.orelse is node
