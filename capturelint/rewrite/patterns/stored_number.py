"""A number stored in elements of a tensor, filled in on the device.

`x[0, 1] = 5.0` with integers names a view, and is `x[0, 1].fill_(5.0)`. `x[idx] = 5.0` with a tensor of
positions is `x[idx] = x.new_full((), 5.0)`. Both convert the number as the assignment does.
"""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.integers import is_one_int
from capturelint.rewrite.literals import number
from capturelint.rewrite.site import Facts, Site, indices_of, is_repeatable
from capturelint.rule import Kind

CODES = ("CL203",)

_HINT = "write `x[i, j].fill_(number)`, or `x[idx] = x.new_full((), number)` for a tensor `idx`"


def match(site: Site) -> tuple[Form, ...] | Refusal:
    """Offer `fill_` for single elements, `new_full` for elements that a tensor names."""
    target, facts = site.node, site.facts
    statement = facts.nearest(target, cst.Assign)
    if not isinstance(target, cst.Subscript) or statement is None:
        return ()
    if not any(one.target is target for one in statement.targets):
        return ()
    if any(isinstance(index, cst.List) for index in indices_of(target)):
        return ()
    if len(statement.targets) > 1:
        return site.refusal("TARGETS", "the number is assigned to more than this", _HINT)
    if not facts.is_surely_tensor(target.value) or not is_repeatable(target.value, facts):
        return site.refusal("TWICE", "the tensor that it is stored in has no name", _HINT)
    if number(statement.value) is None and not facts.is_known_number(statement.value):
        return site.refusal("VALUE", "what is stored is no written number", _HINT)
    indices, value = indices_of(target), facts.text(statement.value)
    if not _has_slices(target) and all(is_one_int(index, facts) for index in indices):
        edit = Edit(facts.span(statement), f"{facts.text(target)}.fill_({value})")
        return site.form(Grade.PROVEN, edit)
    if any(facts.value(index).kind is Kind.HOST_TENSOR for index in indices):
        return site.refusal("HOST", "an index is a tensor on the host", _HINT)
    if not all(_is_known(index, facts) for index in indices):
        return site.refusal("INDEX", "an index may be more than one integer", _HINT)
    new = f"{facts.text(target.value)}.new_full((), {value})"
    return site.form(Grade.PROVEN, Edit(facts.span(statement.value), new))


def _has_slices(target: cst.Subscript) -> bool:
    """Return whether an index is a slice; `x[...]` with integers and slices is no element."""
    return any(isinstance(element.slice, cst.Slice) for element in target.slice)


def _is_known(index: cst.BaseExpression, facts: Facts) -> bool:
    """Return whether an index is surely a tensor on the device, an integer, `None` or `...`."""
    if isinstance(index, cst.Name) and index.value == "None":
        return True
    is_tensor = facts.is_surely_tensor(index)
    return is_tensor or isinstance(index, cst.Ellipsis) or is_one_int(index, facts)
