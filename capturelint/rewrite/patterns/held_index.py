"""Integers that an attribute of the module holds on the host, as an index: a buffer that `__init__` makes of them.

`x[:, self.order]` is `x[:, self.order_]`, and `self.order.to(x.device)` is `self.order_`, with
`self.register_buffer("order_", torch.tensor(self.order, dtype=torch.int64), persistent=False)`. The attribute
stays as it is.
"""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.bindings import bindings
from capturelint.rewrite.buffers import Buffer, init_name, own_name, why_no_buffer
from capturelint.rewrite.conditions import RefusedError, refuse
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.fresh import made_in_init
from capturelint.rewrite.imports import torch_in_file
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.patterns.buffered import NOTE, is_only_read
from capturelint.rewrite.site import Site, indices_of
from capturelint.rewrite.targets import is_device
from capturelint.rule import method_call

_WHOLE = frozenset(("int64", "int32"))
_SEQUENCES = frozenset(("list", "tuple"))
_GATHERING = frozenset("index_select gather take take_along_dim".split())
_HINT = "make it a tensor on the device once, in `__init__` with `register_buffer(..., persistent=False)`"


def sites(facts: Observed) -> list[cst.CSTNode]:
    """Return reads at an index that is an attribute on the host, and moves of such an attribute."""
    return [node for node in facts.nodes(cst.Call, cst.Subscript) if _attributes(node, facts)]


def tests(node: cst.CSTNode, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: there is one way."""
    return []


def match(node: cst.CSTNode, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:  # noqa: ARG001 - a pattern
    """Offer a buffer in place of each attribute."""
    edits: list[Edit] = []
    buffers: list[Buffer] = []
    try:
        for one in _attributes(node, facts):
            buffer = _buffer(one, node, facts)
            is_moved = isinstance(node, cst.Call)
            is_read = not is_moved or is_only_read(node, facts) or _is_index(node, facts)
            copy = "" if is_read else ".clone()"
            place = node if is_moved else one
            edits.append(Edit(facts.span(place), f"{buffer.placeholder}{copy}"))
            buffers.append(buffer)
    except RefusedError as error:
        return error.refusal
    return (Form(Grade.PROVEN, tuple(edits), (NOTE,), tuple(dict.fromkeys(buffers))),)


def _attributes(node: cst.CSTNode, facts: Observed) -> list[cst.Attribute]:
    """Return the attributes of the host that an expression copies to the device."""
    if isinstance(node, cst.Subscript):
        if not facts.seen(node) or not facts.value(node.value).is_device_tensor:
            return []
        indices = indices_of(node)
        is_alone = len(node.slice) == len(indices) == 1
        return [
            one
            for one in indices
            if isinstance(one, cst.Attribute) and _is_listed(one, facts, is_alone=is_alone)
        ]
    called = method_call(node) if isinstance(node, cst.Call) else None
    if not isinstance(node, cst.Call) or called is None or called[1] not in ("to", "cuda"):
        return []
    held = called[0]
    is_known = isinstance(held, cst.Attribute) and facts.value(node).is_device_tensor
    if not isinstance(held, cst.Attribute) or not is_known or not _is_moved(node, called[1], facts):
        return []
    return [held] if _is_of_integers(held, facts) else []


def _is_listed(node: cst.Attribute, facts: Observed, *, is_alone: bool) -> bool:
    """Return whether an index holds integers on the host. A tuple that is alone, or lists in a list, name one element."""
    seen = facts.seen(node)
    if seen and all(one.kind == "list" and one.dtype == "int" for one in seen):
        return not is_alone or all(len(one.shape) == 1 for one in seen)
    is_long = bool(seen) and all(one.kind == "other" and one.name in _SEQUENCES for one in seen)
    return is_long or _is_of_integers(node, facts)


def _is_of_integers(node: cst.Attribute, facts: Observed) -> bool:
    is_whole = all(
        one.dtype in _WHOLE and one.shape != () and one.name == "Tensor" for one in facts.seen(node)
    )
    return facts.is_known_host(node) and is_whole


def _is_moved(node: cst.Call, word: str, facts: Observed) -> bool:
    """Return whether a call moves a tensor and does nothing else."""
    if word == "cuda" or len(node.args) != 1:
        return word == "cuda" and not node.args
    (arg,) = node.args
    is_target = arg.keyword is None or arg.keyword.value == "device"
    return not arg.star and is_target and is_device(Site("", node, facts), arg.value)


def _is_index(node: cst.CSTNode, facts: Observed) -> bool:
    """Return whether an expression is an index at once, so that nothing can write to it."""
    around = facts.around(node)
    parent = next(around)
    if isinstance(parent, cst.Index):
        return True
    call = next(around)
    called = method_call(call) if isinstance(call, cst.Call) else None
    return isinstance(parent, cst.Arg) and called is not None and called[1] in _GATHERING


def _buffer(node: cst.Attribute, at: cst.CSTNode, facts: Observed) -> Buffer:
    """Return the buffer that is made of an attribute. Raises `RefusedError`."""
    text, word = facts.text(node), node.attr.value
    known, why = torch_in_file(facts.source), why_no_buffer(facts.whole, facts.function)
    if why or known is None or known.edits:
        why = why or "what `torch` is called in its `__init__` cannot be told"
        raise refuse(
            facts, at, "BUFFER", f"`{text}` is copied to the device each time, and {why}", _HINT
        )
    own, cls = own_name(facts.whole, facts.function), facts.function.partition(".")[0]
    is_own = isinstance(node.value, cst.Name) and node.value.value == own
    if not is_own or bindings(facts.tree, own) != []:
        why = f"`{text}` is copied to the device each time, and is no attribute of its module"
        raise refuse(facts, at, "BUFFER", why, _HINT)
    made = made_in_init(facts.whole, cls, word, known.name)
    is_tuple_alone = made == "tuple" and isinstance(at, cst.Subscript) and len(at.slice) == 1
    if not made or is_tuple_alone:
        why = f"`{text}` is copied to the device each time, and `__init__` does not surely make it there for itself alone"
        raise refuse(facts, at, "BUFFER", why, _HINT)
    init = init_name(facts.whole, cls)
    value = f"{init}.{word}"
    value = (
        f"{value}.clone()"
        if made == "tensor"
        else f"{known.name}.tensor({value}, dtype={known.name}.int64)"
    )
    wanted = Buffer(cls, own, f"{word}_", value, word)
    if wanted.placeholder in facts.tree.code:
        return wanted
    held = frozenset(
        one.removeprefix("__capturelint_held_").removesuffix("__") for one in facts.words
    )
    return Buffer(cls, own, facts.fresh(f"{word}_", held), value, word)
