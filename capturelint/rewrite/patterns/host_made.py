"""A tensor that is filled on the host, changed exactly there, and used on the device: filled there.

`pos = torch.arange(n)`, then `pos[None].to(x.device)` or `x[pos]`; also a few numbers in a list. What is done between has the same
result on host and device: views, sums, differences and products, comparisons, conversions.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.bindings import bindings, is_parameter_or_bound_before
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.patterns.host_numbers import is_of_numbers
from capturelint.rewrite.patterns.moved_fill import FILLS, on_device, why_not
from capturelint.rewrite.purity import impurity
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
    ends = list(_ends(fill, facts, 0))
    statement = facts.nearest(fill, cst.SimpleStatementLine)
    if not ends or "" in ends or statement is None:
        return ""
    for device in ends:
        root = device.partition(".")[0].partition("[")[0]
        if is_parameter_or_bound_before(facts.tree, root, statement):
            return device
    return ""


def _ends(node: cst.BaseExpression, facts: Observed, step: int) -> Iterator[str]:
    """Yield the devices on which a tensor of the host is used; "" for each other use."""
    if step > _MOST_STEPS:
        yield ""
        return
    parent = next(facts.around(node))
    if isinstance(parent, cst.Assign):
        yield from _of_name(parent, facts, step)
    elif isinstance(parent, cst.Attribute) and parent.attr.value in _ASKED:
        return
    elif isinstance(parent, cst.Index):
        indexed = facts.nearest(parent, cst.Subscript)
        is_used = indexed is not None and facts.value(indexed.value).is_device_tensor
        is_named = indexed is not None and is_repeatable(indexed.value, facts)
        yield f"{facts.text(indexed.value)}.device" if indexed and is_used and is_named else ""
    else:
        made = _made_of(node, parent, facts)
        if made is None:
            yield ""
        elif facts.is_known_host(made):
            yield from _ends(made, facts, step + 1)
        else:
            yield _moved_to(made, facts)


def _of_name(statement: cst.Assign, facts: Observed, step: int) -> Iterator[str]:
    target = statement.targets[0].target
    is_plain = len(statement.targets) == 1 and isinstance(target, cst.Name)
    if not isinstance(target, cst.Name) or not is_plain:
        yield ""
        return
    places = list(loads(target.value, facts))
    sources = [source for _, source in bindings(facts.tree, target.value) or ()]
    fresh = [one for one in sources if not any(_holds(one, place, facts) for place in places)]
    if len(fresh) != 1 and len(sources) != 1:
        yield ""
        return
    # Where the same name is bound to what is made of it, its places are gone through once.
    if any(_holds(statement.value, place, facts) for place in places):
        return
    for place in places:
        if not facts.seen(place):
            # What never ran may need it on the host.
            yield ""
        elif facts.is_known_host(place):
            yield from _ends(place, facts, step + 1)


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
