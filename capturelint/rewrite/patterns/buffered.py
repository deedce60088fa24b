"""Written numbers that are no fill and no range, and many: a buffer that `__init__` makes once.

`torch.tensor([0.1, ...], device=x.device)` is `self.values`, and `x[[3, 0, 2]]` is `x[self.rows]`, with
`self.register_buffer("values", torch.tensor([0.1, ...]), persistent=False)`.
"""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.buffers import Buffer, own_name, why_no_buffer
from capturelint.rewrite.conditions import RefusedError, refuse
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.imports import torch_in_file
from capturelint.rewrite.literals import number
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.site import indices_of
from capturelint.rule import method_call

_MAKING = frozenset(("torch.tensor", "torch.as_tensor", "torch.asarray"))
# Whatever these give is memory of its own.
_NEW = frozenset(
    f"torch.{name}" for name in "isin matmul maximum minimum nn.functional.linear where".split()
)
_HINT = "make it once, in `__init__` with `register_buffer(..., persistent=False)`"
_NOTE = "a module that is made on the meta device has to make its new buffers anew"
_CONVERTED = "`.half()` and `.to(dtype)` of its module convert the new buffer `{name}`"


def sites(facts: Observed) -> list[cst.CSTNode]:
    """Return written numbers that are copied to the device, and lists of integers as indices."""
    found: list[cst.CSTNode] = []
    for node in facts.nodes(cst.Call, cst.Subscript):
        is_made = isinstance(node, cst.Call) and _data(node, facts) is not None
        if is_made or (isinstance(node, cst.Subscript) and _lists(node, facts)):
            found.append(node)
    return found


def tests(node: cst.CSTNode, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: there is one way."""
    return []


def match(node: cst.CSTNode, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:
    """Offer a buffer in place of each list."""
    try:
        known = torch_in_file(facts.source)
        why = why_no_buffer(facts.whole, facts.function)
        if why or known is None or known.edits:
            reason = why or "what `torch` is called in its `__init__` cannot be told"
            raise refuse(facts, node, "BUFFER", reason, _HINT)
        pairs = (
            _call(node, facts, torch) if isinstance(node, cst.Call) else _index(node, facts, torch)
        )
    except RefusedError as error:
        return error.refusal
    edits = tuple(edit for edit, _ in pairs)
    buffers = tuple(buffer for _, buffer in pairs)
    notes = [_NOTE] + [_CONVERTED.format(name=one.name) for one in buffers if ".float" in one.text]
    return (Form(Grade.PROVEN, edits, tuple(notes), buffers),)


def _call(node: cst.Call, facts: Observed, torch: str) -> list[tuple[Edit, Buffer]]:
    data = _data(node, facts)
    assert data is not None, "that makes it a site"
    kinds = {one.dtype for one in facts.seen(node)}
    if len(kinds) != 1:
        raise refuse(facts, node, "DTYPE", "its type varies", _HINT)
    parent = next(facts.around(node))
    target = parent.targets[0].target if isinstance(parent, cst.Assign) else None
    name = target.value if isinstance(target, cst.Name) else "values"
    text = f"{torch}.tensor({facts.enclosed(data)}, dtype={torch}.{kinds.pop()})"
    buffer = _buffer(f"{name}_", text, facts, 0)
    copy = "" if _is_only_read(node, facts) else ".clone()"
    return [(Edit(facts.span(node), f"{buffer.placeholder}{copy}"), buffer)]


def _index(node: cst.CSTNode, facts: Observed, torch: str) -> list[tuple[Edit, Buffer]]:
    assert isinstance(node, cst.Subscript), "that makes it a site"
    pairs: list[tuple[Edit, Buffer]] = []
    for one in _lists(node, facts):
        text = f"{torch}.tensor({facts.text(one)}, dtype={torch}.int64)"
        buffer = _buffer("rows_", text, facts, len(pairs))
        pairs.append((Edit(facts.span(one), buffer.placeholder), buffer))
    return pairs


def _buffer(name: str, text: str, facts: Observed, number_: int) -> Buffer:
    wanted = f"{name}{number_}" if number_ else name
    held = frozenset(
        one.removeprefix("__capturelint_held_").removesuffix("__") for one in facts.words
    )
    found = facts.fresh(wanted, held)
    cls = facts.function.partition(".")[0]
    return Buffer(cls, own_name(facts.whole, facts.function), found, text)


def _data(node: cst.Call, facts: Observed) -> cst.BaseExpression | None:
    """Return the written numbers of a tensor that a call makes on, or moves to, the device."""
    if not facts.value(node).is_device_tensor:
        return None
    called, words = method_call(node), _words(node)
    if facts.full_name(node.func) in _MAKING:
        is_plain = words[:1] == [""] and "device" in words and set(words[1:]) <= {"dtype", "device"}
        made = node if is_plain else None
    elif called is not None and called[1] in ("to", "cuda") and isinstance(called[0], cst.Call):
        is_made = facts.full_name(called[0].func) in _MAKING
        is_plain = set(_words(called[0])[1:]) <= {"dtype"} and _words(called[0])[:1] == [""]
        made = called[0] if is_made and is_plain and len(node.args) <= 1 else None
    else:
        return None
    return made.args[0].value if made is not None and _is_written(made.args[0].value) else None


def _words(node: cst.Call) -> list[str]:
    return [arg.star or ("" if arg.keyword is None else arg.keyword.value) for arg in node.args]


def _is_written(node: cst.BaseExpression) -> bool:
    """Return whether an expression is a list of written numbers, or of such lists."""
    if not isinstance(node, cst.List | cst.Tuple) or not node.elements:
        return False
    values = [one.value for one in node.elements if isinstance(one, cst.Element)]
    return len(values) == len(node.elements) and all(
        number(one) is not None or _is_written(one) for one in values
    )


def _lists(node: cst.Subscript, facts: Observed) -> list[cst.List]:
    """Return the lists of written integers among the indices of a tensor that is read."""
    lists = [one for one in indices_of(node) if isinstance(one, cst.List)]
    if not facts.seen(node) or not facts.value(node.value).is_device_tensor:
        return []
    values = [element.value for one in lists for element in one.elements]
    return lists if all(type(number(one)) is int for one in values) else []


def _is_only_read(node: cst.CSTNode, facts: Observed) -> bool:
    """Return whether what an expression gives is computed with at once, so that nothing can write to it."""
    parent = next(facts.around(node))
    if isinstance(parent, cst.BinaryOperation | cst.ComparisonTarget):
        return True
    if isinstance(parent, cst.Comparison):
        return parent.left is node
    call = next(facts.around(parent)) if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call):
        return False
    return facts.full_name(call.func) in _NEW
