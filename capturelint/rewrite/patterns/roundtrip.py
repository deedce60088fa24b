"""A tensor that goes to the host and back, `x.cpu().argsort().to(x.device)`: it stays where it is.

Sorting keeps the order of equal elements on the host; on the device it is told to.
"""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit, Span
from capturelint.rewrite.conditions import RefusedError, refuse
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rule import method_call

_HINT = "do the work on the device"
_SORTING = frozenset(("argsort",))
# Their results are memory of their own, as that of a move is.
_FRESH = frozenset("argsort abs neg clamp flip eq ne lt le gt ge logical_not".split())
_EXACT = frozenset(
    "detach abs neg clamp long int float double bool view reshape unsqueeze squeeze flatten t"
    " transpose permute contiguous flip eq ne lt le gt ge logical_not".split()
)


def sites(facts: Observed) -> list[cst.Call]:
    """Return the moves back of what was moved to the host in the same expression."""
    return [
        node for node in facts.nodes(cst.Call) if isinstance(node, cst.Call) and _chain(node, facts)
    ]


def tests(node: cst.Call, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: there is one way."""
    return []


def match(node: cst.Call, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:  # noqa: ARG001
    """Offer the same without the moves."""
    try:
        return (Form(Grade.PROVEN, tuple(_edits(node, facts))),)
    except RefusedError as error:
        return error.refusal


def _chain(node: cst.Call, facts: Observed) -> list[cst.Call]:
    """Return the calls from a move back down to the move to the host; none if this is no such."""
    called = method_call(node)
    if called is None or called[1] not in ("to", "cuda") or not facts.value(node).is_device_tensor:
        return []
    found = [node]
    inner: cst.BaseExpression = called[0]
    while isinstance(inner, cst.Call):
        called = method_call(inner)
        if called is None:
            return []
        found.append(inner)
        if called[1] == "cpu" and not inner.args:
            return found if facts.value(called[0]).is_device_tensor else []
        inner = called[0]
    return []


def _edits(node: cst.Call, facts: Observed) -> list[Edit]:
    back, *steps, away = _chain(node, facts)
    source = method_call(away)
    target = back.args[0].value if len(back.args) == 1 else None
    if source is None or not isinstance(target, cst.Attribute) or target.attr.value != "device":
        raise refuse(facts, node, "DEVICE", "the move back may change more than the device", _HINT)
    if not facts.value(target.value).is_device_tensor or impurity(target.value, facts):
        raise refuse(facts, node, "DEVICE", "the move back may go elsewhere", _HINT)
    names = {called[1] for one in steps if (called := method_call(one)) is not None}
    others = [one for one in names if one not in _EXACT | _SORTING]
    if not names & _FRESH and not others:
        reason = "what comes back would be the memory of what went"
        raise refuse(facts, node, "ALIAS", reason, _HINT)
    edits = [_without(back, facts), _without(away, facts)]
    for step in steps:
        called = method_call(step)
        assert called is not None, "the chain is of methods"
        why = next(filter(None, (impurity(arg.value, facts) for arg in step.args)), "")
        if why:
            raise refuse(facts, step, "IMPURE", why, _HINT)
        words = {arg.keyword.value if arg.keyword is not None else "" for arg in step.args}
        if called[1] in _SORTING and words <= {"dim", "descending"}:
            last = facts.span(step)
            end = Span(last.end_line, last.end_column - 1, last.end_line, last.end_column - 1)
            edits.append(Edit(end, f"{', ' if step.args else ''}stable=True"))
        elif called[1] not in _EXACT:
            reason = f"`{called[1]}` may come to something else on the device"
            raise refuse(facts, step, "HOST", reason, _HINT)
    return edits


def _without(call: cst.Call, facts: Observed) -> Edit:
    """Return the edit that takes a method call off what it is called on."""
    called = method_call(call)
    assert called is not None and isinstance(call.func, cst.Attribute), "it is a method"
    name, whole = facts.span(call.func.attr), facts.span(call)
    return Edit(Span(name.line, name.column - 1, whole.end_line, whole.end_column), "")
