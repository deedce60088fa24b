"""How numbers of the host are filled one by one, so that each becomes what a copy of it is."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from capturelint.rewrite.literals import number
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.patterns.device_fill import SMALL
from capturelint.rewrite.site import is_repeatable
from capturelint.rewrite.sure_numbers import is_size, is_surely_float, is_written_attribute
from capturelint.rule import argument, method_call

MAKING = frozenset(("torch.tensor", "torch.as_tensor", "torch.asarray"))
# Types that a fill gives each number of Python as a copy does; others round or overflow otherwise.
TYPES = frozenset(("float32", "float64", "int32", "int64", "bool"))
_INTEGERS = frozenset(("int32", "int64"))
_FLOATS = frozenset(("float32", "float64"))
_NUMBERS = frozenset(("int", "float", "bool"))


@dataclass(frozen=True, slots=True)
class Fills:
    """How numbers are filled one by one: what fills, and its arguments behind the number.

    `to`: the type that is made of float64 afterwards, "" if numbers are filled in their own type.
    """

    facts: Observed
    maker: str
    rest: str
    to: str = ""

    def one(self, shape: str, node: cst.BaseExpression, text: str = "") -> str:
        """Return the fill of a number; `text`: what stands for it, if it is not read where it stands."""
        value = text or self.facts.text(node)
        is_whole = number(node) is None and type_of(node, self.facts) != "float"
        return f"{self.maker}({shape}, {f'float({value})' if self.to and is_whole else value}{self.rest})"

    def all(self, text: str) -> str:
        """Return all that was filled in its type."""
        return f"{text}.to({self.to})" if self.to else text


def fills_of(
    node: cst.Call, data: cst.BaseExpression, facts: Observed, torch: str, device: str
) -> Fills | None:
    """Return how the numbers of a list, or one, are filled as a copy makes them; None if that is not known.

    A copy makes infinity of what a float32 cannot hold, and goes by float64 from an integer, but a fill raises.
    So what is neither written nor a size is filled in float64, and converted.
    """
    kinds = {one.dtype for one in facts.seen(node)}
    leaves = leaves_of(data)
    types = {type_of(leaf, facts) for leaf in leaves}
    called = method_call(node)
    is_new = called is not None and facts.full_name(node.func) not in MAKING
    own = facts.enclosed(called[0]) if is_new and called is not None else torch
    maker = f"{own}.new_full" if is_new else f"{own}.full"
    plain = "".join(f", {facts.text(arg)}" for arg in node.args[1:]) + device
    if not kinds or "" in types:
        return None
    is_whole = types == {"int"} and kinds <= _INTEGERS
    is_held = kinds <= _FLOATS and all(_is_held(leaf, facts) for leaf in leaves)
    if is_whole or is_held or _is_small(data) or (types == {"bool"} and kinds <= TYPES):
        return Fills(facts, maker, plain)
    given = argument(node, "dtype")
    is_named = is_new and called is not None and is_repeatable(called[0], facts)
    if given is not None:
        to = facts.enclosed(given)
    elif is_new:
        to = f"{own}.dtype" if is_named else ""
    else:
        is_sure = all(is_surely_float(leaf, facts) for leaf in leaves)
        to = f"{torch}.get_default_dtype()" if is_sure else ""
    is_known = facts.full_name(cst.Name("float")) == "builtins.float"
    if not to or not kinds <= _FLOATS or not is_known:
        return None
    others = [arg for arg in node.args[1:] if arg.value is not given]
    rest = "".join(f", {facts.text(arg)}" for arg in others) + device
    return Fills(facts, maker, f", dtype={torch}.float64{rest}", to)


def _is_held(node: cst.BaseExpression, facts: Observed) -> bool:
    """Return whether a fill of floating type surely holds a number as a copy does."""
    is_written = number(node) is not None or is_written_attribute(node, facts)
    return is_written or is_size(node, facts)


def items_of(data: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return the items of a list that is written out, nothing for others and where some are starred."""
    if not isinstance(data, cst.List | cst.Tuple):
        return []
    elements = [one for one in data.elements if isinstance(one, cst.Element)]
    return [one.value for one in elements] if len(elements) == len(data.elements) else []


def leaves_of(data: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return what a list holds that is no list itself; of what is no list, itself."""
    items = items_of(data)
    return [leaf for item in items for leaf in leaves_of(item)] if items else [data]


def type_of(node: cst.BaseExpression, facts: Observed) -> str:
    """Return the type of a number of the host, "" for what is none or not of one type."""
    written = number(node)
    if written is not None:
        return type(written).__name__
    seen = facts.seen(node)
    kinds = {one.name if one.kind == "number" else "" for one in seen}
    found = kinds.pop() if len(kinds) == 1 else ""
    return found if found in _NUMBERS else ""


def _is_small(data: cst.BaseExpression) -> bool:
    """Return whether all numbers of a list are written out, and fit every type."""
    items = [number(item) for item in leaves_of(data)]
    return bool(items_of(data)) and all(item is not None and abs(item) <= SMALL for item in items)
