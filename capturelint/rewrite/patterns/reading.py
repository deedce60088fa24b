"""A number that is read from a tensor and only computed with other tensors: it stays a tensor.

`y * x.max().item()` is `y * x.max().detach()`. A type that would be promoted otherwise refuses.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.bindings import bindings
from capturelint.rewrite.comparing import Held, Side, conversion
from capturelint.rewrite.conditions import (
    RefusedError,
    grouped,
    read_tensor,
    refuse,
    side_of,
)
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.site import Site
from capturelint.rewrite.uses import DIVIDED, compared_with, is_divided, loads, partners
from capturelint.rule import method_call

_HINT = "keep the value on the device, as a tensor of one element"
_CHOICE = "hand it in as one of Python's, or keep it a tensor, and choose by it with `torch.where`"
# Their results are memory of their own, which no later write reaches.
_FRESH = frozenset("max min sum mean amax amin norm std var prod median abs sqrt square".split())
_INTEGERS = frozenset(("int8", "int16", "int32", "int64", "uint8"))
_WIDE = frozenset(("float32", "float64"))


def sites(facts: Observed) -> list[cst.Call]:
    """Return the reads of tensors that are no part of a condition, and not only printed."""
    found: list[cst.Call] = []
    for node in facts.nodes(cst.Call):
        assert isinstance(node, cst.Call), "only those were asked for"
        if read_tensor(facts, node) is not None and not _is_tested(node, facts):
            found.append(node)
    return found


def tests(node: cst.Call, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: there is one way."""
    return []


def match(node: cst.Call, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:  # noqa: ARG001
    """Offer the tensor in place of the number."""
    try:
        edits = _edits(node, facts)
        notes = (DIVIDED,) if any(is_divided(one, facts) for one in _places(node, facts)) else ()
        forms = Site("", node, facts).form(Grade.PROVEN, *edits)
        return forms if isinstance(forms, Refusal) else (replace(forms[0], notes=notes),)
    except RefusedError as error:
        return error.refusal


def _edits(node: cst.Call, facts: Observed) -> list[Edit]:
    tensor = read_tensor(facts, node)
    assert tensor is not None, "that makes it a site"
    kind = _type(node, tensor, facts)
    edits = [Edit(facts.span(node), _text(tensor, facts))]
    for place in _places(node, facts):
        for other in partners(place, facts):
            _check_promotion(place, kind, other, facts)
        other_side = compared_with(place, facts)
        if other_side is None:
            continue
        added = conversion(Side(Held.READ, frozenset({kind})), side_of(facts, other_side))
        if added is None:
            what = f"`{facts.text(place)}` is compared as a number, which its tensor may not be"
            raise refuse(facts, node, "DTYPE", what, _HINT)
        if added and place is node:
            raise refuse(facts, node, "TEST", "it is part of a condition", _HINT)
        if added:
            edits.append(Edit(facts.span(place), f"{facts.text(place)}{added}"))
    return edits


def _places(node: cst.Call, facts: Observed) -> list[cst.CSTNode]:
    """Return where a number is used that is read: here, or where its name stands. Raises `RefusedError`."""
    parent = next(facts.around(node))
    if not isinstance(parent, cst.Assign):
        return [node]
    target = parent.targets[0].target
    if len(parent.targets) > 1 or not isinstance(target, cst.Name):
        raise refuse(facts, node, "HOST", "what is read is kept", _HINT)
    if len(bindings(facts.tree, target.value) or ()) != 1:
        raise refuse(facts, node, "HOST", f"`{target.value}` is bound elsewhere too", _HINT)
    return list(loads(target.value, facts))


def _type(node: cst.Call, tensor: cst.BaseExpression, facts: Observed) -> str:
    """Return the type of a tensor that is read as what it is. Raises `RefusedError` for others."""
    seen = facts.seen(tensor)
    types = {one.dtype for one in seen}
    if len(types) != 1 or any(one.numel != 1 for one in seen):
        raise refuse(facts, node, "DTYPE", "what is read has different types or sizes", _HINT)
    kind = types.pop()
    name = facts.full_name(node.func)
    if kind == "bool" and name in ("", "builtins.bool"):
        raise refuse(facts, node, "HOST", "a truth value is needed on the host", _CHOICE)
    is_kept = not name or (name == "builtins.int") == (kind in _INTEGERS)
    if kind == "bool" or not is_kept or name == "builtins.bool":
        raise refuse(facts, node, "DTYPE", "the read converts what it reads", _HINT)
    return kind


def _text(tensor: cst.BaseExpression, facts: Observed) -> str:
    text = grouped(tensor, facts.text(tensor))
    if {one.shape for one in facts.seen(tensor)} != {()}:
        text += ".reshape(())"
    called = method_call(tensor) if isinstance(tensor, cst.Call) else None
    is_fresh = called is not None and called[1] in _FRESH
    # A number cuts the graph of gradients, and keeps its value when the tensor is written.
    return f"{text}.detach()" if is_fresh else f"{text}.detach().clone()"


def _check_promotion(place: cst.CSTNode, kind: str, other: str, facts: Observed) -> None:
    """Raise unless a number and a tensor of one element give the same type, and round alike."""
    if kind == other or (kind in _INTEGERS and other in _WIDE):
        return
    reason = f"a {kind} of one element is not to {other} what a number is"
    raise refuse(facts, place, "HALF" if "16" in other else "DTYPE", reason, _HINT)


def _is_tested(node: cst.Call, facts: Observed) -> bool:
    """Return whether a read is a part of a condition, which other patterns know, or of a statement."""
    inner: cst.CSTNode = node
    for one in facts.around(node):
        if isinstance(one, cst.If | cst.IfExp | cst.While) and one.test is inner:
            return True
        if isinstance(one, cst.Expr):
            return True
        if isinstance(one, cst.BaseSmallStatement):
            return False
        inner = one
    return False
