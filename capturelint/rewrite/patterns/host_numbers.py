"""Numbers that a run showed the host to hold, filled on the device in place of a copy.

`torch.tensor(n, device=d)` is `torch.full((), n, device=d)`, a short list of numbers a stack of fills,
and `t.to(d)` of a single number in a tensor on the host is filled with what is read there. The graph
keeps such a number, as it does each one that Python computes; judging the case again tells if it may not.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.literals import number
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.patterns.number_fills import (
    MAKING,
    TYPES,
    Fills,
    fills_of,
    items_of,
    leaves_of,
    type_of,
)
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.site import Site
from capturelint.rewrite.sure_numbers import written_list
from capturelint.rewrite.targets import is_device
from capturelint.rule import method_call

MOST = 8  # numbers, each a kernel of its own


def filled(node: cst.Call, facts: Observed, torch: str, device: str = "") -> str:
    """Return numbers of the host as fills, "" if they are none, or too many. `device`: what else the call is given."""
    if not node.args or node.args[0].keyword is not None or node.args[0].star:
        return ""
    called = method_call(node)
    name = facts.full_name(node.func)
    is_new = name not in MAKING
    if is_new and (called is None or called[1] != "new_tensor" or name):
        return ""
    words = {arg.keyword.value if arg.keyword is not None else "" for arg in node.args[1:]}
    if not words <= {"dtype", "device"}:
        return ""
    data = node.args[0].value
    shown = data if is_new else written_list(data, facts) or data
    fills = fills_of(node, shown, facts, torch, device)
    one = _single(data, fills) if fills is not None and shown is data else ""
    is_pure = not any(impurity(arg.value, facts) for arg in node.args[1:])
    if fills is None or (fills.to and not is_pure):
        return ""
    if one or is_new or not is_pure:
        return one
    return _stacked(data, fills, torch) if shown is data else _listed(data, shown, fills, torch)


def is_of_numbers(node: cst.Call, facts: Observed) -> bool:
    """Return whether a call makes a tensor of a short list of numbers that is written out."""
    is_made = facts.full_name(node.func) in MAKING and bool(node.args)
    return is_made and bool(items_of(node.args[0].value)) and bool(filled(node, facts, "torch"))


def moved(node: cst.Call, facts: Observed, torch: str) -> str:
    """Return a single number of the host that is moved as a fill, "" for others.

    It is read from a tensor that requires no gradients, or right there made a tensor of.
    """
    called = method_call(node)
    if called is None or called[1] != "to" or len(node.args) != 1 or node.args[0].star:
        return ""
    tensor, target = called[0], node.args[0]
    seen = facts.seen(tensor)
    kinds = {one.dtype for one in seen}
    is_number = facts.is_known_host(tensor) and all(
        one.shape == () and one.name == "Tensor" and not one.has_slope for one in seen
    )
    word = target.keyword.value if target.keyword is not None else "device"
    is_read = isinstance(tensor, cst.Name | cst.Attribute)
    if not is_number or len(kinds) != 1 or not kinds <= TYPES or word != "device":
        return ""
    if not is_device(Site("", node, facts), target.value):
        return ""
    if isinstance(tensor, cst.Call) and facts.full_name(tensor.func) in MAKING:
        device = facts.text(target.value)
        return filled(tensor, facts, torch, f", device={device}") if _is_alone(tensor) else ""
    if not is_read:
        return ""
    kind = f"dtype={torch}.{next(iter(kinds))}, device={facts.text(target.value)}"
    return f"{torch}.full((), {facts.text(tensor)}.item(), {kind})"


def _is_alone(node: cst.Call) -> bool:
    """Return whether a tensor is made of data and at most a type."""
    words = [arg.keyword.value if arg.keyword is not None else "" for arg in node.args]
    return words in ([""], ["", "dtype"])


def _single(data: cst.BaseExpression, fills: Fills) -> str:
    """Return the fill of one number, or of a list of one; "" for others."""
    items = items_of(data)
    if not items:
        return fills.all(fills.one("()", data))
    is_one = len(items) == 1 and not items_of(items[0])
    return fills.all(fills.one("(1,)", items[0])) if is_one else ""


def _stacked(data: cst.BaseExpression, fills: Fills, torch: str) -> str:
    """Return a stack of fills of the numbers of a list that is written out; "" for others."""
    return fills.all(_stack(data, fills, torch)) if _is_even(data, fills.facts) else ""


def _is_even(data: cst.BaseExpression, facts: Observed) -> bool:
    """Return whether a list holds few numbers, all of one type, in rows of one length."""
    leaves = leaves_of(data)
    is_alike = len({type_of(item, facts) for item in leaves}) == 1 and _shape(data) is not None
    return is_alike and len(leaves) <= MOST


def _stack(data: cst.BaseExpression, fills: Fills, torch: str) -> str:
    items = items_of(data)
    if not items:
        return fills.one("()", data)
    parts = [_stack(item, fills, torch) for item in items]
    return f"{torch}.stack(({', '.join(parts)}{',' if len(parts) == 1 else ''}))"


def _shape(data: cst.BaseExpression) -> tuple[int, ...] | None:
    """Return the sizes of a list of lists, () for what is no list; None if they are not alike."""
    shapes = {_shape(item) for item in items_of(data)}
    inner = shapes.pop() if shapes else ()
    if inner is None or shapes:
        return None
    return (len(items_of(data)), *inner) if items_of(data) else ()


def _listed(data: cst.BaseExpression, written: cst.BaseExpression, fills: Fills, torch: str) -> str:
    """Return a stack of fills of a list that has a name, or of such lists in it; "" for others.

    `written`: the list as it is written out, so that it is known not to be empty.
    """
    facts, shape = fills.facts, _shape(written) or ()
    if len(shape) not in (1, 2) or not _is_even(written, facts):
        return ""
    each = facts.fresh("one")
    # A written number among them may be read by the same name as one that is not.
    wide = [leaf for leaf in leaves_of(written) if number(leaf) is None] or leaves_of(written)
    fill = fills.one("()", wide[0], each)
    if len(shape) == 1:
        return fills.all(f"{torch}.stack([{fill} for {each} in {facts.text(data)}])")
    row = facts.fresh("row")
    inner = f"{torch}.stack([{fill} for {each} in {row}])"
    return fills.all(f"{torch}.stack([{inner} for {row} in {facts.text(data)}])")
