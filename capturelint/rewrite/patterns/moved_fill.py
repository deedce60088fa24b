"""A tensor that is filled on the host and then moved, filled on the device instead.

`torch.zeros(3).to(d)` is `torch.zeros(3, device=d)`; so are `ones`, `full`, `eye` and an `arange` of
integers, also through `view` and the like. What is computed in floating point may differ between host
and device, and is left alone.
"""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit
from capturelint.kind import Kind
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.site import Site
from capturelint.rule import argument, method_call

CODES = ("CL202",)

_FILLS = frozenset(("torch.zeros", "torch.ones", "torch.full", "torch.eye", "torch.arange"))
# Steps between the fill and the move that only look at the same numbers in another shape.
_VIEWS = frozenset(("view", "reshape", "unsqueeze", "squeeze", "flatten"))
_HINT = "make it on the device, or once in `__init__` with `register_buffer`"


def match(site: Site) -> tuple[Form, ...] | Refusal:
    """Offer the fill with a `device`, for a fill that is moved at once."""
    move = site.node
    called = method_call(move) if isinstance(move, cst.Call) else None
    if not isinstance(move, cst.Call) or called is None or called[1] not in ("to", "cuda"):
        return ()
    device = _device(site, move, called[1])
    if not device:
        return site.refusal("DEVICE", "the move may change more than the device", _HINT)
    fill = _fill_in(called[0])
    if fill is None or site.facts.full_name(fill.func) not in _FILLS:
        return site.refusal("HOST", "what is moved is not filled right here", _HINT)
    why = _why_not(site, fill)
    if why:
        return site.refusal("ARGUMENTS", why, _HINT)
    return site.form(Grade.PROVEN, *_edits(site, move, called[0], fill, device))


def _edits(
    site: Site, move: cst.Call, moved: cst.BaseExpression, fill: cst.Call, device: str
) -> tuple[Edit, ...]:
    """Return one edit: the moved expression, with the device among the arguments of the fill."""
    facts = site.facts
    whole, part = facts.text(moved), facts.text(fill)
    arguments = ", ".join([facts.text(arg) for arg in fill.args] + [f"device={device}"])
    new = whole.replace(part, f"{facts.text(fill.func)}({arguments})", 1)
    return (Edit(facts.span(move), new),)


def _device(site: Site, move: cst.Call, method: str) -> str:
    """Return the text of the device that a move goes to, "" if it may be about more."""
    given = [arg for arg in move.args if arg.keyword is None or arg.keyword.value != "non_blocking"]
    if any(arg.star for arg in given) or len(given) > 1:
        return ""
    if not given:
        return '"cuda"' if method == "cuda" else ""
    word = given[0].keyword.value if given[0].keyword is not None else "device"
    target = given[0].value
    return site.facts.text(target) if word == "device" and _is_device(site, target) else ""


def _is_device(site: Site, target: cst.BaseExpression) -> bool:
    """Return whether a target is surely a device, and no dtype and no other tensor."""
    value = site.facts.value(target)
    if value.constant:
        return isinstance(value.constant[0], str)
    if isinstance(target, cst.Attribute | cst.Name):
        word = target.value if isinstance(target, cst.Name) else target.attr.value
        return word.endswith("device") and not value.is_tensor
    return isinstance(target, cst.Call) and site.facts.full_name(target.func) == "torch.device"


def _fill_in(node: cst.BaseExpression) -> cst.Call | None:
    """Return the call that makes a tensor, below steps that only change its shape."""
    while isinstance(node, cst.Call):
        called = method_call(node)
        if called is None or called[1] not in _VIEWS:
            return node
        node = called[0]
    return None


def _why_not(site: Site, fill: cst.Call) -> str:
    """Return why a fill may not be the same on the device, "" if it is."""
    if any(
        arg.star or (arg.keyword is not None and arg.keyword.value != "dtype") for arg in fill.args
    ):
        return "the fill has arguments besides its sizes, its number and its type"
    name = site.facts.full_name(fill.func)
    sizes = [arg.value for arg in fill.args if arg.keyword is None]
    if name == "torch.arange" and (
        argument(fill, "dtype") or not all(_is_int(site, s) for s in sizes)
    ):
        return "only a range of integers is the same on host and device"
    if any(site.facts.value(size).is_tensor for size in sizes):
        return "its size or its number comes from a tensor"
    return ""


def _is_int(site: Site, node: cst.BaseExpression) -> bool:
    value = site.facts.value(node)
    if value.constant:
        return type(value.constant[0]) is int
    return value.kind in (Kind.SHAPE, Kind.HOST_VALUE) and value.dtype == "int" and not value.weak
