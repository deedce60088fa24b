"""A tensor of written numbers, made on the device itself: `torch.full` and `torch.arange`.

`torch.tensor(0.5, device=d)` is `torch.full((), 0.5, device=d)`, `torch.tensor([1, 1], device=d)` is
`torch.full((2,), 1, device=d)`, `torch.tensor([0, 1, 2], device=d)` is `torch.arange(3, device=d)`, and
`x.new_tensor(0.5)` is `x.new_full((), 0.5)`. Type and value are the same for every dtype, and so are
the errors of numbers that do not fit; but for fractions and numbers below zero in `uint64`, which a fill takes.
"""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.literals import arguments_of, number, numbers, progression
from capturelint.rewrite.site import Site
from capturelint.rule import argument, method_call

CODES = ("CL201",)

_FUNCTIONS = ("torch.tensor", "torch.as_tensor", "torch.asarray")
SMALL = 127  # what a list may hold of any type
# The words that the function and its fill have in common, and mean the same by.
_KEPT = ("dtype", "device")
_KEPT_BY_COPIES = (*_KEPT, "requires_grad")
_BUFFER = "make it once, in `__init__` with `register_buffer(..., persistent=False)`"


def match(site: Site) -> tuple[Form, ...] | Refusal:
    """Offer a fill or a range for a tensor of written numbers."""
    call = site.node
    if not isinstance(call, cst.Call) or not call.args:
        return ()
    data = call.args[0]
    if data.keyword is not None or data.star:
        return site.refusal("ARGUMENTS", "its data are given by name", _BUFFER)
    name = site.facts.full_name(call.func)
    allowed = _KEPT if name in ("torch.as_tensor", "torch.asarray") else _KEPT_BY_COPIES
    others = [
        arg for arg in call.args[1:] if arg.keyword is None or arg.keyword.value not in allowed
    ]
    if others:
        return site.refusal("ARGUMENTS", "it has arguments that a fill has not", _BUFFER)
    if _raises_only_as_data(site, call, data.value):
        return site.refusal("ERROR", "uint64 refuses this number, and a fill would not", _BUFFER)
    rest = "".join(f", {site.facts.text(arg)}" for arg in call.args[1:])
    if name in _FUNCTIONS:
        return _of_function(site, call, data.value, rest)
    called = method_call(call)
    if called is None or called[1] != "new_tensor" or name:
        return ()
    if not site.facts.is_surely_tensor(called[0]):
        return site.refusal("RECEIVER", "what it is called on may be no tensor", _BUFFER)
    shape, value = _fill(site, data.value)
    if not shape:
        return site.refusal("VALUE", "its data are no single number", _BUFFER)
    assert isinstance(call.func, cst.Attribute), "a method was called"
    edits = (
        Edit(site.facts.span(call.func.attr), "new_full"),
        Edit(site.facts.span(data), f"{shape}, {value}"),
    )
    return site.form(Grade.PROVEN, *edits)


def _of_function(
    site: Site, call: cst.Call, data: cst.BaseExpression, rest: str
) -> tuple[Form, ...] | Refusal:
    shape, value = _fill(site, data)
    if shape:
        return site.with_torch(Grade.PROVEN, call, f"{{torch}}.full({shape}, {value}{rest})")
    if site.facts.is_known_number(data):
        why = f"`{site.facts.text(data)}` is a number of the host, which a fill may round otherwise in its type"
        return site.refusal("VALUE", why, _BUFFER)
    items = numbers(data) or []
    found = progression([item for _, item in items])
    if found is None or argument(call, "dtype") is not None:
        return site.refusal("VALUE", "its data are no single number and no range", _BUFFER)
    return site.with_torch(Grade.PROVEN, call, f"{{torch}}.arange({arguments_of(found)}{rest})")


def _raises_only_as_data(site: Site, call: cst.Call, data: cst.BaseExpression) -> bool:
    """Return whether a number is no `uint64`: `torch.tensor` raises then, `torch.full` does not."""
    dtype, alone = argument(call, "dtype"), number(data)
    if dtype is None or not site.facts.text(dtype).endswith("uint64"):
        return False
    items = [item for _, item in numbers(data) or ()] if alone is None else [alone]
    return any(isinstance(item, float) or item < 0 for item in items)


def _fill(site: Site, data: cst.BaseExpression) -> tuple[str, str]:
    """Return shape and value, as text, of data that are one number, or all the same; else ""."""
    if number(data) is not None:
        return "()", site.facts.text(data)
    items = numbers(data)
    # By text: the two zeros are equal, and different numbers.
    if not items or len({repr(item) for _, item in items}) != 1:
        return "", ""
    # Of a list, what a small type cannot hold becomes infinity; filling with it raises.
    if abs(items[0][1]) > SMALL:
        return "", ""
    return f"({len(items)},)", site.facts.text(items[0][0])
