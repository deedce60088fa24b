"""What has as many elements, or turns, as values say: no rewrite, but the reason and what to do by hand."""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.form import Form, Refusal
from capturelint.rewrite.masks import mask_of
from capturelint.rewrite.observed import Observed
from capturelint.rule import method_call

_HINTS = {
    "nonzero": "give `torch.nonzero_static` a size, or compute with the mask",
    "argwhere": "give `torch.nonzero_static` a size, or compute with the mask",
    "masked_select": "keep all elements, and a mask beside them",
    "where": "compute with the condition itself, as a mask",
    "unique": "count with `torch.bincount` outside, or sort and mark the first of each run",
    "unique_consecutive": "mark the first of each run with a mask",
    "bincount": "`torch.zeros(n, device=...).scatter_add_(0, ids, ones)` for a known `n`",
    "repeat_interleave": "give `output_size=` if it is known",
}
_SIZED = frozenset(f"torch.{name}" for name in "arange empty full linspace ones zeros".split())
_MASKED = (
    "take the largest size there can be, and mask the rest: `torch.arange(size, device=...) < n`"
)
_TURNS = (
    "choose a maximum number of turns, and keep with `torch.where` what was there when it was done"
)


def sites(facts: Observed) -> list[cst.CSTNode]:
    """Return the calls and masks whose results have no fixed size."""
    found: list[cst.CSTNode] = []
    for node in facts.nodes(cst.Call, cst.Subscript):
        if (
            (isinstance(node, cst.Call) and _name(node, facts) in _HINTS and _runs(node, facts))
            or (isinstance(node, cst.Subscript) and facts.seen(node) and mask_of(node, facts))
            or _is_sized(node, facts)
        ):
            found.append(node)
    return found


def tests(node: cst.CSTNode, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: nothing is offered."""
    return []


def match(node: cst.CSTNode, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:  # noqa: ARG001
    """Refuse, with the way out."""
    text = facts.text(node).split("\n")[0]
    name = _name(node, facts) if isinstance(node, cst.Call) else "masked_select"
    is_loop = isinstance(node, cst.Call) and facts.full_name(node.func) == "builtins.range"
    what = "turns" if is_loop else "elements"
    hint = _TURNS if is_loop else _MASKED if _is_sized(node, facts) else _HINTS[name]
    reason = f"`{text}` has as many {what} as values say"
    return Refusal("SIZE", reason, hint, facts.span(node).line)


def _is_sized(node: cst.CSTNode, facts: Observed) -> bool:
    """Return whether a tensor on the device bounds a slice, a range or a tensor that is made."""
    if isinstance(node, cst.Call):
        name = facts.full_name(node.func)
        sizes = [arg.value for arg in node.args if arg.keyword is None]
        if name == "torch.full":
            sizes = sizes[:1]
        is_known = name in _SIZED or name == "builtins.range"
        return is_known and any(facts.value(one).is_device_tensor for one in sizes)
    if not isinstance(node, cst.Subscript):
        return False
    slices = [one.slice for one in node.slice if isinstance(one.slice, cst.Slice)]
    bounds = [one for part in slices for one in (part.lower, part.upper, part.step)]
    return any(one is not None and facts.value(one).is_device_tensor for one in bounds)


def _name(node: cst.Call, facts: Observed) -> str:
    full, called = facts.full_name(node.func), method_call(node)
    if full.startswith("torch."):
        return full.removeprefix("torch.")
    return called[1] if called is not None and not full else ""


def _runs(node: cst.Call, facts: Observed) -> bool:
    words = {arg.keyword.value for arg in node.args if arg.keyword is not None}
    if _name(node, facts) == "where" and len(node.args) > 1:
        return False
    called = None if facts.full_name(node.func) else method_call(node)
    # Positions come as a tuple, one tensor for each dimension of what is given.
    given = [called[0]] if called is not None else [arg.value for arg in node.args[:1]]
    is_tuple = {one.name for one in facts.seen(node)} == {"tuple"}
    seen = [one for part in (given if is_tuple else [node]) for one in facts.seen(part)]
    is_on_device = any(one.device != "cpu" and one.kind == "tensor" for one in seen)
    return is_on_device and "output_size" not in words
