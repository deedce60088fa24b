"""Numbers that a run showed the host to hold, filled on the device in place of a copy.

`torch.tensor(n, device=d)` is `torch.full((), n, device=d)`, a short list of numbers a stack of fills,
and `t.to(d)` of a single number in a tensor on the host is filled with what is read there. The graph
keeps such a number, as it does each one that Python computes; judging the case again tells if it may not.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.literals import number
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.patterns.device_fill import SMALL
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.site import Site, is_repeatable
from capturelint.rewrite.targets import is_device
from capturelint.rule import method_call

MAKING = frozenset(("torch.tensor", "torch.as_tensor", "torch.asarray"))
MOST = 8  # numbers, each a kernel of its own
# Types that a fill gives each number of Python as a copy does; others round or overflow otherwise.
_TYPES = frozenset(("float32", "float64", "int32", "int64", "bool"))
_FLOATS = frozenset(("float32", "float64"))
_NUMBERS = frozenset(("int", "float", "bool"))


def filled(node: cst.Call, facts: Observed, torch: str) -> str:
    """Return numbers of the host as fills, "" if they are none, or too many."""
    if not node.args or node.args[0].keyword is not None or node.args[0].star:
        return ""
    called = method_call(node)
    name = facts.full_name(node.func)
    is_new = name not in MAKING
    if is_new and (called is None or called[1] != "new_tensor" or name):
        return ""
    words = {arg.keyword.value if arg.keyword is not None else "" for arg in node.args[1:]}
    data = node.args[0].value
    is_plain = _is_small(data) or _is_plain(node, facts)
    if not words <= {"dtype", "device"} or not is_plain:
        return ""
    rest = "".join(f", {facts.text(arg)}" for arg in node.args[1:])
    if is_new:
        assert called is not None, "a method was asked for"
        one = _single(data, facts)
        return f"{facts.text(called[0])}.new_full({one}{rest})" if one else ""
    one = _single(data, facts)
    if one:
        return f"{torch}.full({one}{rest})"
    if any(impurity(arg.value, facts) for arg in node.args[1:]):
        return ""
    return _stacked(data, rest, facts, torch) or _listed(data, rest, facts, torch)


def is_of_numbers(node: cst.Call, facts: Observed) -> bool:
    """Return whether a call makes a tensor of a short list of numbers that is written out."""
    is_made = facts.full_name(node.func) in MAKING and bool(node.args)
    return is_made and bool(_items(node.args[0].value)) and bool(filled(node, facts, "torch"))


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
    if not is_number or len(kinds) != 1 or not kinds <= _TYPES or word != "device":
        return ""
    if not is_device(Site("", node, facts), target.value):
        return ""
    if isinstance(tensor, cst.Call) and facts.full_name(tensor.func) in MAKING:
        made = filled(tensor, facts, torch)
        return (
            f"{made[:-1]}, device={facts.text(target.value)})" if _is_alone(tensor) and made else ""
        )
    if not is_read:
        return ""
    kind = f"dtype={torch}.{next(iter(kinds))}, device={facts.text(target.value)}"
    return f"{torch}.full((), {facts.text(tensor)}.item(), {kind})"


def _is_alone(node: cst.Call) -> bool:
    """Return whether a tensor is made of data and at most a type."""
    words = [arg.keyword.value if arg.keyword is not None else "" for arg in node.args]
    return words in ([""], ["", "dtype"])


def _is_small(data: cst.BaseExpression) -> bool:
    """Return whether all numbers of a list are written out, and fit every type."""
    items = [number(item) for item in _leaves(data)]
    return bool(_items(data)) and all(item is not None and abs(item) <= SMALL for item in items)


def _is_plain(node: cst.Call, facts: Observed) -> bool:
    """Return whether a copy gives its numbers a type in which a fill writes them alike."""
    kinds = {one.dtype for one in facts.seen(node)}
    data = node.args[0].value
    items = _leaves(data)
    listed = {one.dtype for one in facts.seen(data) if one.kind == "list"}
    is_whole = {_kind(item, facts) for item in items} | listed <= {"int", "bool", ""}
    return bool(kinds) and kinds <= (_TYPES if is_whole else _FLOATS)


def _single(data: cst.BaseExpression, facts: Observed) -> str:
    """Return the arguments of a fill with one number, or with a list of one; "" for others."""
    if _kind(data, facts):
        return f"(), {facts.text(data)}"
    items = _items(data)
    if len(items) == 1 and _kind(items[0], facts):
        return f"(1,), {facts.text(items[0])}"
    return ""


def _stacked(data: cst.BaseExpression, rest: str, facts: Observed, torch: str) -> str:
    """Return a stack of fills of the numbers of a list that is written out; "" for others."""
    leaves = _leaves(data)
    kinds = {_kind(item, facts) for item in leaves}
    if len(leaves) > MOST or len(kinds) != 1 or "" in kinds or _shape(data) is None:
        return ""
    return _stack(data, rest, facts, torch)


def _stack(data: cst.BaseExpression, rest: str, facts: Observed, torch: str) -> str:
    items = _items(data)
    if not items:
        return f"{torch}.full((), {facts.text(data)}{rest})"
    parts = [_stack(item, rest, facts, torch) for item in items]
    return f"{torch}.stack(({', '.join(parts)}{',' if len(parts) == 1 else ''}))"


def _shape(data: cst.BaseExpression) -> tuple[int, ...] | None:
    """Return the sizes of a list of lists, () for what is no list; None if they are not alike."""
    shapes = {_shape(item) for item in _items(data)}
    inner = shapes.pop() if shapes else ()
    if inner is None or shapes:
        return None
    return (len(_items(data)), *inner) if _items(data) else ()


def _listed(data: cst.BaseExpression, rest: str, facts: Observed, torch: str) -> str:
    """Return a stack of fills of a list that has a name, or of such lists in it; "" for others."""
    seen = list(facts.seen(data))
    shapes = {len(one.shape) for one in seen}
    is_short = all(one.kind == "list" and one.numel <= MOST for one in seen)
    if not seen or not is_short or len(shapes) != 1 or not is_repeatable(data, facts):
        return ""
    each = facts.fresh("one")
    fill = f"{torch}.full((), {each}{rest})"
    if shapes == {1}:
        return f"{torch}.stack([{fill} for {each} in {facts.text(data)}])"
    row = facts.fresh("row")
    inner = f"{torch}.stack([{fill} for {each} in {row}])"
    return f"{torch}.stack([{inner} for {row} in {facts.text(data)}])"


def _items(data: cst.BaseExpression) -> list[cst.BaseExpression]:
    if not isinstance(data, cst.List | cst.Tuple):
        return []
    elements = [one for one in data.elements if isinstance(one, cst.Element)]
    return [one.value for one in elements] if len(elements) == len(data.elements) else []


def _leaves(data: cst.BaseExpression) -> list[cst.BaseExpression]:
    items = _items(data)
    return [leaf for item in items for leaf in _leaves(item)] if items else [data]


def _kind(node: cst.BaseExpression, facts: Observed) -> str:
    """Return the type of a number of the host, "" for what is none or not of one type."""
    written = number(node)
    if written is not None:
        return type(written).__name__
    seen = facts.seen(node)
    kinds = {one.name if one.kind == "number" else "" for one in seen}
    found = kinds.pop() if len(kinds) == 1 else ""
    return found if found in _NUMBERS else ""
