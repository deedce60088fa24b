"""Rows repeated as often as a tensor says, where what they are computed with tells how many those are.

`y + x.repeat_interleave(n, dim=0)` is `y + x.repeat_interleave(n, dim=0, output_size=y.shape[0])`.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.bindings import bindings, is_parameter_or_bound_before, parameter
from capturelint.rewrite.conditions import RefusedError, refuse
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.literals import number
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.site import Site
from capturelint.rewrite.uses import loads
from capturelint.rule import argument, method_call

_HINT = "give `output_size=` if it is known"
_NOTE = (
    "unsafe: where there are fewer rows than `output_size`, `repeat_interleave` raises nothing: a device"
    " assertion ends the CUDA context of the process; also where it gave a single row, which was spread over all"
)
_OFFER = (
    "`--unsafe-fixes` gives it as `output_size`, which ends the CUDA context of the process where it is"
    " too large"
)


def sites(facts: Observed) -> list[cst.Call]:
    """Return the calls that repeat rows as often as a tensor on the device says."""
    calls = (one for one in facts.nodes(cst.Call) if isinstance(one, cst.Call))
    return [one for one in calls if _is_repeated(one, facts)]


def tests(node: cst.Call, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: there is one way."""
    return []


def match(node: cst.Call, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:  # noqa: ARG001
    """Offer the size that the result must have, if the user allows it."""
    try:
        size = next(_sizes(node, facts), "")
        what = f"`{facts.text(node)}`".split("\n")[0]
        if not size:
            reason = f"{what} has as many rows as values say"
            raise refuse(facts, node, "SIZE", reason, _HINT)
        if not facts.allowed.unsafe_fixes:
            raise refuse(facts, node, "SIZE", f"{what} must have `{size}` rows", _OFFER)
    except RefusedError as error:
        return error.refusal
    span = facts.span(node.args[-1])
    text = f"{facts.text(node.args[-1])}, output_size={size}"
    found = Site("", node, facts).form(Grade.UNSAFE, Edit(span, text))
    return found if isinstance(found, Refusal) else (Form(Grade.UNSAFE, found[0].edits, (_NOTE,)),)


def _is_repeated(node: cst.Call, facts: Observed) -> bool:
    name, called = facts.full_name(node.func), method_call(node)
    is_method = not name and called is not None and called[1] == "repeat_interleave"
    if not is_method and name != "torch.repeat_interleave":
        return False
    repeats = argument(node, "repeats", 0 if is_method else 1)
    is_counted = repeats is not None and facts.value(repeats).is_device_tensor
    return is_counted and argument(node, "output_size") is None and facts.is_tensor(node)


def _sizes(node: cst.Call, facts: Observed) -> Iterator[str]:
    """Yield the sizes that what is computed with the result tells, as text."""
    along = argument(node, "dim", 1 if method_call(node) and not facts.full_name(node.func) else 2)
    dim = 0 if along is None else number(along)
    if type(dim) is not int or dim < 0:
        return
    parent = next(facts.around(node))
    places: list[cst.CSTNode] = [node]
    target = parent.targets[0].target if isinstance(parent, cst.Assign) else None
    if isinstance(target, cst.Name):
        is_once = len(bindings(facts.tree, target.value) or ()) == 1
        places = list(loads(target.value, facts)) if is_once else []
    for place in places:
        around = next(facts.around(place))
        if not isinstance(around, cst.BinaryOperation):
            continue
        other = around.right if around.left is place else around.left
        if isinstance(other, cst.Name) and _fits(node, other, dim, facts):
            yield f"{other.value}.shape[{dim}]"


def _fits(node: cst.Call, other: cst.Name, dim: int, facts: Observed) -> bool:
    """Return whether a tensor that has a name before a call has as many rows as its result."""
    shapes = {one.shape for one in facts.seen(node)}
    others = {one.shape for one in facts.seen(other)}
    places = bindings(facts.tree, other.value)
    statement = next(
        (one for one in facts.around(node) if isinstance(one, cst.BaseStatement)), None
    )
    if not facts.is_tensor(other) or len(others) != 1 or places is None or statement is None:
        return False
    (whole,) = others
    is_known = is_parameter_or_bound_before(facts.tree, other.value, statement)
    is_one_value = len(places) == (0 if parameter(facts.tree, other.value) is not None else 1)
    is_same = (
        len(whole) > dim
        and whole[dim] > 1
        and any(len(one) == len(whole) and one[dim] == whole[dim] for one in shapes)
    )
    return is_known and is_one_value and is_same
