"""A tensor that is filled on the host and then moved, filled on the device instead.

`torch.zeros(3).to(d)` is `torch.zeros(3, device=d)`; so are `ones`, `full`, `eye` and an `arange` of
integers, also through `view` and the like. A move that may convert too, `.to(x)` or `.to(d, torch.bool)`,
stays behind the fill, and has nothing left to move. What is computed in floating point may differ between host
and device, and is left alone.
"""

from __future__ import annotations

from typing import TypeGuard

import libcst as cst

from capturelint.finding import Edit
from capturelint.kind import Kind
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.literals import number
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.site import Site, is_repeatable
from capturelint.rewrite.targets import is_device
from capturelint.rule import argument, method_call

CODES = ("CL202",)

FILLS = frozenset(("torch.zeros", "torch.ones", "torch.full", "torch.eye", "torch.arange"))
# Steps between the fill and the move that only look at the same numbers in another shape.
_VIEWS = frozenset(("view", "reshape", "unsqueeze", "squeeze", "flatten"))
_DEFAULTS = ("set_default_device", "set_default_tensor_type")
_MAKING = frozenset(("torch.tensor", "torch.as_tensor", "torch.asarray"))
_NUMBERS = "what is moved is made of numbers of Python's, which are copied to the device each time"
_FILL = "fill one number there with `torch.full((), ..., device=...)`, and make more once, in `__init__` with `register_buffer`"
_HINT = "make it on the device, or once in `__init__` with `register_buffer`"


def match(site: Site) -> tuple[Form, ...] | Refusal:
    """Offer the fill with a `device`, for a fill that is moved at once."""
    move = site.node
    called = method_call(move) if isinstance(move, cst.Call) else None
    if not isinstance(move, cst.Call) or called is None or called[1] not in ("to", "cuda"):
        return ()
    device = _device(site, move, called[1])
    kept = "" if device else _device_of_more(site, move, called[1])
    if not device and not kept:
        return site.refusal("DEVICE", "the move may change more than the device", _HINT)
    fill = _fill_in(called[0])
    if fill is not None and site.facts.full_name(fill.func) in _MAKING:
        return site.refusal("NUMBERS", _NUMBERS, _FILL)
    if fill is None or site.facts.full_name(fill.func) not in FILLS:
        return site.refusal("HOST", "what is moved is not filled right here", _HINT)
    why = why_not(site, fill) or _moved_effect(site, called[0]) or _default_device(site, called[0])
    if why:
        return site.refusal("ARGUMENTS", why, _HINT)
    if kept:
        return site.form(Grade.PROVEN, Edit(site.facts.span(fill), on_device(site, fill, kept)))
    return site.form(Grade.PROVEN, *_edits(site, move, called[0], fill, device))


def _edits(
    site: Site, move: cst.Call, moved: cst.BaseExpression, fill: cst.Call, device: str
) -> tuple[Edit, ...]:
    """Return one edit: the moved expression, with the device among the arguments of the fill."""
    facts = site.facts
    whole, part = facts.text(moved), facts.text(fill)
    return (Edit(facts.span(move), whole.replace(part, on_device(site, fill, device), 1)),)


def on_device(site: Site, fill: cst.Call, device: str) -> str:
    """Return the text of a fill with a device among its arguments."""
    facts = site.facts
    arguments = [facts.text(arg) for arg in fill.args]
    return f"{facts.text(fill.func)}({', '.join([*arguments, f'device={device}'])})"


def _device_of_more(site: Site, move: cst.Call, method: str) -> str:
    """Return the text of the device of a move that may convert too, "" if it is not known.

    What is filled there already the move converts alone, and there.
    """
    first = move.args[0] if move.args else None
    if method != "to" or first is None or any(arg.star for arg in move.args):
        return ""
    target = argument(move, "device") or first.value
    is_named = first.keyword is None or argument(move, "device") is not None
    read = target.value if _is_device_of(target) else target
    is_impure = any(impurity(arg.value, site.facts) for arg in move.args)
    if not is_named or is_impure or not is_repeatable(read, site.facts):
        return ""
    if is_device(site, target):
        return site.facts.text(target)
    is_tensor = len(move.args) == 1 and site.facts.is_surely_tensor(target)
    return f"{site.facts.text(target)}.device" if is_tensor else ""


def _device(site: Site, move: cst.Call, method: str) -> str:
    """Return the text of the device that a move goes to, "" if it may be about more."""
    given = [arg for arg in move.args if arg.keyword is None or arg.keyword.value != "non_blocking"]
    if any(arg.star for arg in given) or len(given) > 1:
        return ""
    if any(not _is_truth(arg.value) for arg in move.args if arg not in given):
        return ""
    if not given:
        return '"cuda"' if method == "cuda" else ""
    word = given[0].keyword.value if given[0].keyword is not None else "device"
    target = given[0].value
    if word != "device" or not is_device(site, target):
        return ""
    text = site.facts.text(target)
    # The method takes no other kind of device.
    return text if method == "to" or "cuda" in text else ""


def _is_device_of(node: cst.BaseExpression) -> TypeGuard[cst.Attribute]:
    return isinstance(node, cst.Attribute) and node.attr.value == "device"


def _is_truth(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value in ("True", "False")


def _fill_in(node: cst.BaseExpression) -> cst.Call | None:
    """Return the call that makes a tensor, below steps that only change its shape."""
    while isinstance(node, cst.Call):
        called = method_call(node)
        if called is None or called[1] not in _VIEWS:
            return node
        node = called[0]
    return None


def why_not(site: Site, fill: cst.Call) -> str:
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


def _moved_effect(site: Site, moved: cst.BaseExpression) -> str:
    """Return what may be done in another order, or not at all any more; "" if nothing is."""
    while isinstance(moved, cst.Call):
        for arg in moved.args:
            why = impurity(arg.value, site.facts)
            if why:
                return why
        called = method_call(moved)
        moved = called[0] if called is not None else moved.func
    return ""


def _default_device(site: Site, moved: cst.BaseExpression) -> str:
    """Return why the fill may be on another device than the host, "" if it is not."""
    if site.facts.is_known_host(moved):
        return ""
    if any(isinstance(one, cst.With) for one in site.facts.around(site.node)):
        return "a `with` around it may have made another device the default"
    if any(word in site.facts.file.text for word in _DEFAULTS):
        return "its file sets the default device"
    return ""


def _is_int(site: Site, node: cst.BaseExpression) -> bool:
    written = number(node)
    if written is not None:
        return type(written) is int
    value = site.facts.value(node)
    if value.constant:
        return type(value.constant[0]) is int
    return value.kind in (Kind.SHAPE, Kind.HOST_VALUE) and value.dtype == "int" and not value.weak
