"""A tensor that is filled on the host, changed exactly there, and used on the device: filled there.

`pos = torch.arange(n)`, then `pos[None].to(x.device)` or `x[pos]`; also a few numbers in a list. What is done between has the same
result on host and device: views, sums, differences and products, comparisons, conversions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.bindings import bindings, is_parameter_or_bound_before, parameter
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.lasting import is_given_by, is_unchanged
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.patterns.host_numbers import is_of_numbers
from capturelint.rewrite.patterns.moved_fill import FILLS, on_device, why_not
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.reaching import may_read_before
from capturelint.rewrite.site import Site, is_repeatable
from capturelint.rewrite.targets import is_device
from capturelint.rewrite.uses import loads
from capturelint.rule import method_call

_EXACT = frozenset(
    "view reshape unsqueeze squeeze flatten expand repeat flip long int float bool abs neg to".split()
)
_FUNCTIONS = frozenset(("torch.abs", "torch.neg"))
_ASKED = frozenset("shape dtype ndim size numel dim".split())
_OPERATORS = (cst.Add, cst.Subtract, cst.Multiply)
_SMALL = frozenset(("uint8", "int8", "int16"))
_MOST_STEPS = 30


class _End(NamedTuple):
    """A place where a tensor of the host is used, and the text of the device it goes to; "" for any other use."""

    device: str
    place: cst.BaseExpression


def sites(facts: Observed) -> list[cst.Call]:
    """Return the fills on the host that are used on the device, and for nothing else."""
    calls = (one for one in facts.nodes(cst.Call) if isinstance(one, cst.Call))
    return [one for one in calls if _is_fill(one, facts) and device_of(one, facts)]


def tests(node: cst.Call, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: there is one way."""
    return []


def match(node: cst.Call, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:  # noqa: ARG001
    """Offer the fill on the device alone, then together with all others that go there."""
    site, device = Site("", node, facts), device_of(node, facts)
    why = why_not(site, node)
    if why:
        return site.refusal("ARGUMENTS", why, "make it on the device")
    others = [one for one in sites(facts) if not why_not(Site("", one, facts), one)]
    forms: list[Form] = []
    for fills in dict.fromkeys(((node,), tuple(others))):
        edits = (Edit(facts.span(one), on_device(site, one, device)) for one in fills)
        form = site.form(Grade.PROVEN, *edits)
        if isinstance(form, Refusal):
            return form
        forms += form
    return tuple(forms)


def _is_fill(node: cst.Call, facts: Observed) -> bool:
    words = {arg.keyword.value for arg in node.args if arg.keyword is not None}
    if not facts.is_known_host(node) or "device" in words:
        return False
    return facts.full_name(node.func) in FILLS or is_of_numbers(node, facts)


def device_of(fill: cst.Call, facts: Observed) -> str:
    """Return the text of the device that a tensor of the host is used on, "" if it is used otherwise too."""
    ends = list(_ends(fill, facts, 0, is_alone=False))
    statement = facts.nearest(fill, cst.SimpleStatementLine)
    if not all(device for device, _ in ends) or statement is None:
        return ""
    for device, place in ends:
        root = device.partition(".")[0].partition("[")[0]
        is_bound = is_parameter_or_bound_before(facts.tree, root, statement)
        # Bound anew in between, or asked for in between, it may be something without a device here.
        is_there = "." not in device or may_read_before(
            device.rpartition(".")[0], statement, place, facts
        )
        if is_bound and is_there and is_unchanged(statement, place, root, facts):
            return device
    return ""


def _ends(
    node: cst.BaseExpression, facts: Observed, step: int, *, is_alone: bool
) -> Iterator[_End]:
    """Yield what becomes of a tensor of the host. `is_alone`: it must meet no other, which may stay there."""
    if step > _MOST_STEPS:
        yield _End("", node)
        return
    parent = next(facts.around(node))
    if isinstance(parent, cst.Assign):
        yield from _of_name(parent, facts, step, is_alone=is_alone)
    elif isinstance(parent, cst.Attribute) and parent.attr.value in _ASKED:
        return
    elif isinstance(parent, cst.Index):
        yield _End(_indexed(node, parent, facts), node)
    else:
        made = _made_of(node, parent, facts)
        if made is None or (is_alone and isinstance(made, cst.BinaryOperation | cst.Comparison)):
            yield _End("", node)
        elif facts.is_known_host(made):
            yield from _ends(made, facts, step + 1, is_alone=is_alone)
        else:
            yield _End(_moved_to(made, facts), made)


def _indexed(node: cst.BaseExpression, parent: cst.Index, facts: Observed) -> str:
    """Return the device of what a tensor is an index of, "" where it may have none, or none is needed."""
    indexed = facts.nearest(parent, cst.Subscript)
    # One element is read as a number, which waits for the device if it is there.
    if indexed is None or any(not one.shape for one in facts.seen(node)):
        return ""
    is_used = facts.value(indexed.value).is_device_tensor
    is_named = is_repeatable(indexed.value, facts)
    return f"{facts.text(indexed.value)}.device" if is_used and is_named else ""


def _of_name(
    statement: cst.Assign, facts: Observed, step: int, *, is_alone: bool
) -> Iterator[_End]:
    target, places = statement.targets[0].target, _places(statement, facts)
    if places is None or not isinstance(target, cst.Name):
        yield _End("", statement.value)
        return
    # A caller may hand in one of the host in its place.
    is_alone = is_alone or parameter(facts.tree, target.value) is not None
    # Where the same name is bound to what is made of it, its places are gone through once.
    if any(_holds(statement.value, place, facts) for place in places):
        return
    for place in places:
        if not facts.seen(place):
            # What never ran may need it on the host.
            yield _End("", place)
        elif facts.is_known_host(place):
            yield from _ends(place, facts, step + 1, is_alone=is_alone)
        elif any(one.device == "cpu" for one in facts.seen(place)):
            yield _End("", place)


def _places(statement: cst.Assign, facts: Observed) -> list[cst.Name] | None:
    """Return the places that may read what a statement assigns to a name, None if that cannot be told."""
    target = statement.targets[0].target
    if len(statement.targets) != 1 or not isinstance(target, cst.Name):
        return None
    name = target.value
    places = list(loads(name, facts))
    sources = [source for _, source in bindings(facts.tree, name) or ()]
    fresh = [one for one in sources if not any(_holds(one, place, facts) for place in places)]
    if len(fresh) == 1 or len(sources) == 1:
        return places
    # Bound more than once, each place has to read what one of these surely gave it.
    lines = [facts.nearest(one, cst.SimpleStatementLine) for one in (statement.value, *sources)]
    given = [
        [at for at in places if line is not None and is_given_by(line, at, name, facts)]
        for line in lines
    ]
    is_known = all(any(at in one for one in given) for at in places)
    return given[0] if is_known else None


def _holds(outer: cst.BaseExpression, inner: cst.CSTNode, facts: Observed) -> bool:
    return outer is inner or any(one is outer for one in facts.around(inner))


def _made_of(
    node: cst.BaseExpression, parent: cst.CSTNode, facts: Observed
) -> cst.BaseExpression | None:
    """Return what is made of a tensor by one step that is exact, None for other steps."""
    if isinstance(parent, cst.Subscript) and parent.value is node:
        return parent
    if isinstance(parent, cst.UnaryOperation):
        return parent
    if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, _OPERATORS):
        return parent if facts.is_known_host(parent) else None
    if isinstance(parent, cst.ComparisonTarget):
        parent = next(facts.around(parent))
    if isinstance(parent, cst.Comparison):
        is_one = len(parent.comparisons) == 1
        return parent if is_one and facts.is_known_host(parent) else None
    call = next(facts.around(parent)) if isinstance(parent, cst.Attribute | cst.Arg) else None
    if not isinstance(call, cst.Call):
        return None
    if isinstance(parent, cst.Arg):
        is_exact = facts.full_name(call.func) in _FUNCTIONS and len(call.args) == 1
        return call if is_exact else None
    if call.func is not parent:
        return None
    called = method_call(call)
    is_exact = called is not None and called[1] in _EXACT and not _is_cut(node, call, facts)
    return call if is_exact and not any(impurity(arg.value, facts) for arg in call.args) else None


def _is_cut(node: cst.BaseExpression, call: cst.Call, facts: Observed) -> bool:
    """Return whether fractions become small integers, of which those too large are anything."""
    is_small = any(one.dtype in _SMALL for one in facts.seen(call))
    return is_small and any("float" in one.dtype for one in facts.seen(node))


def _moved_to(node: cst.BaseExpression, facts: Observed) -> str:
    """Return the device that a move goes to, "" for what is no move to one."""
    called = method_call(node) if isinstance(node, cst.Call) else None
    if not isinstance(node, cst.Call) or called is None or called[1] != "to" or not node.args:
        return ""
    given = {arg.keyword.value if arg.keyword is not None else "": arg.value for arg in node.args}
    target = given.get("device", node.args[0].value)
    if is_device(Site("", node, facts), target):
        return facts.text(target)
    is_tensor = facts.value(target).is_device_tensor and is_repeatable(target, facts)
    return f"{facts.text(target)}.device" if is_tensor else ""
