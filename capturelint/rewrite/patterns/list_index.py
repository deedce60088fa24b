"""A list of integers as an index, made on the device: `x[[0, 2]]` with `torch.arange(0, 3, 2)`.

The list becomes the same integers in a tensor beside `x`, so that the indexing itself, its layout and
its errors stay as they are. Lists that are no range are left alone: a buffer serves them better.
"""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.literals import arguments_of, numbers, progression
from capturelint.rewrite.site import Site, indices_of, is_repeatable
from capturelint.rule import Kind

CODES = ("CL203",)

_HINT = "keep the index as a buffer: `x[self.order]` or `x.index_select(0, self.order)`"


def match(site: Site) -> tuple[Form, ...] | Refusal:
    """Offer a range or a fill on the device for each list in an index."""
    node = site.node
    if not isinstance(node, cst.Subscript):
        return ()
    lists = [index for index in indices_of(node) if isinstance(index, cst.List)]
    if not lists:
        return ()
    if not site.facts.is_surely_tensor(node.value) or not is_repeatable(node.value, site.facts):
        return site.refusal("TWICE", "the indexed tensor has no name to take a device from", _HINT)
    if any(site.facts.value(index).kind is Kind.HOST_TENSOR for index in indices_of(node)):
        return site.refusal("HOST", "another index is a tensor on the host", _HINT)
    torch = site.facts.torch_at(site.node)
    if torch is None:
        return site.refusal(
            "NAME", "what `torch` is called here cannot be told", "write `import torch` on top"
        )
    device = f"device={site.facts.text(node.value)}.device"
    edits = list(torch.edits)
    for one in lists:
        made = _made(one)
        if not made:
            return site.refusal("LIST", "the integers of the list are no range", _HINT)
        edits.append(Edit(site.facts.span(one), f"{torch.name}.{made}, {device})"))
    return site.form(Grade.PROVEN, *edits)


def _made(node: cst.List) -> str:
    """Return the beginning of a call that makes a list's integers on the device, "" for others."""
    items = [item for _, item in numbers(node) or []]
    found = progression(items)
    if found is not None:
        return f"arange({arguments_of(found)}"
    if len(items) == 1 and type(items[0]) is int:
        return f"full((1,), {items[0]}"
    return ""
