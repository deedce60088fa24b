"""Indexing with a boolean tensor has a result whose size only the device knows.

`x[mask]` as a value, `x[mask] = tensor` and `x[mask] += v` all turn the mask into positions first,
and the host has to learn how many there are.

## Why capture cares

The host waits for the count in order to allocate the result, which CUDA refuses while a stream is
capturing. A graph could not hold the result either: its shapes are fixed when it is captured.

Measured on an H200 with torch 2.11: `x[mask]`, `x[mask] = tensor` and `x[mask] += v` refuse at
their line, for masks of whole tensors and of rows. `x[mask] = 0.5` (a number) captures and replays
exactly, also among slices, and is not reported.

## What to do instead

Keep every element and let the mask choose: `torch.where(mask, new, x)` for an assignment,
`x.masked_fill(mask, number)`, `(x * mask).sum() / mask.sum()` for a mean over what is left, and
`x = torch.where(mask, x + v, x)` for `x[mask] += v`. `x.masked_scatter(mask, source)` also captures
(its backward does not). For a bounded number of rows use `torch.nonzero_static(mask, size=n)`.

Only masks that are known to be boolean are reported: comparisons, `~mask`, `.bool()`,
`torch.isnan(x)`, parameters or buffers made as such. A mask of a single element is tensor-as-index
(CL104), and a single value assigned through a mask is device-scalar-argument (CL106).
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from capturelint.rule import (
    UNKNOWN,
    About,
    Effect,
    Kind,
    Rule,
    Subject,
    Trait,
    Triggers,
    Value,
    method_call,
)


class BooleanIndex(Rule):
    about = About(
        code="CL302", name="boolean-index", effects=(Effect.REFUSES,), since="0.1", waits=True
    )
    triggers = Triggers(traits=frozenset({Trait.TENSOR_SUBSCRIPT}))

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._written: set[cst.CSTNode] = set()

    def visit_Assign(self, node: cst.Assign) -> None:
        value = self.value(node.value)
        if _is_moved(node.value):
            # Only a tensor is moved or cast.
            value = value._replace(weak=False)
        for assigned in node.targets:
            self._judge_target(assigned.target, value)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        target = node.target
        if isinstance(target, cst.Subscript):
            self._written.add(target)
            if self._is_masked(target):
                self._say(target, "[mask] op= ...")

    def visit_For(self, node: cst.For) -> None:
        self._written.update(_subscripts(node.target))

    def visit_Del(self, node: cst.Del) -> None:
        self._written.update(_subscripts(node.target))

    def visit_Subscript(self, node: cst.Subscript) -> None:
        if node not in self._written and self._is_masked(node):
            self._say(node, "[mask]")

    def _judge_target(self, target: cst.BaseExpression, value: Value) -> None:
        if isinstance(target, cst.Tuple | cst.List):
            for index, element in enumerate(target.elements):
                self._judge_target(element.value, _item(value, index))
            return
        self._written.update(_subscripts(target))
        # A single value on the device breaks another rule; a number breaks none.
        is_tensor = value.is_device_tensor and not value.weak and value.rank != 0
        if isinstance(target, cst.Subscript) and is_tensor and self._is_masked(target):
            self._say(target, "[mask] = tensor")

    def _is_masked(self, node: cst.Subscript) -> bool:
        receiver = self.value(node.value)
        if receiver.kind not in (Kind.DEVICE_TENSOR, Kind.UNKNOWN) or receiver.refs:
            return False
        return any(
            self._is_mask(element.slice.value)
            for element in node.slice
            if isinstance(element.slice, cst.Index)
        )

    def _is_mask(self, index: cst.BaseExpression) -> bool:
        if isinstance(index, cst.Tuple):
            return any(self._is_mask(element.value) for element in index.elements)
        value = self.value(index)
        return any(map(_is_boolean, (value, *(value.items or ()))))

    def _say(self, node: cst.Subscript, form: str) -> None:
        self.report(
            node, f"`{form}` makes the host count what the mask keeps, which capture refuses"
        )


def _is_moved(node: cst.BaseExpression) -> bool:
    called = method_call(node) if isinstance(node, cst.Call) else None
    return called is not None and called[1] in ("to", "type_as")


def _item(value: Value, index: int) -> Value:
    """Return what unpacking `value` gives in place `index`."""
    if value.items is not None and index < len(value.items):
        return value.items[index]
    return value.element or UNKNOWN


def _is_boolean(value: Value) -> bool:
    return value.is_device_tensor and value.dtype == "bool" and value.rank != 0


def _subscripts(target: cst.BaseExpression) -> Iterator[cst.Subscript]:
    """Yield the subscripts that an assignment to `target` writes."""
    if isinstance(target, cst.Subscript):
        yield target
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _subscripts(element.value)
