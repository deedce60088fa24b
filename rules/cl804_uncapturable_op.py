"""Some operations lay out their result by values, or copy lengths from the host: no graph can hold them.

Conversion to a sparse tensor, construction of nested tensors, `ctc_loss`, `pack_padded_sequence` with
`enforce_sorted=False`; where the region also runs a backward pass, that of `prod` and of
`masked_scatter`.

## Why capture cares

How many elements a sparse tensor has is known on the device only, and lengths of sequences are needed
on the host. These operations wait for the device or copy from unpinned memory, and capture refuses
both.

Measured on an H200 with torch 2.11: `to_sparse`, `nested_tensor` and `ctc_loss` refuse at their
line; `prod` and `masked_scatter` capture, and their backward refuses. Sequences that are in order of
their lengths, which is what `pack_padded_sequence` expects unless it is told otherwise, are packed and
replay right. What the table below calls known from source was not run.

## What to do instead

Build sparse and nested tensors and packed sequences before the region, or keep them padded and masked:
`torch.nested.nested_tensor_from_jagged` with offsets on the device captures. Run `ctc_loss` outside
the region, on its outputs. In place of `prod` where gradients are needed, use
`x.log().sum().exp()` if all elements are positive; in place of `masked_scatter`, gather with an index
made on the device and `torch.where`.

The backward is reported only where the same function calls `backward()` or `torch.autograd.grad`.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import (
    About,
    Effect,
    Rule,
    Subject,
    Triggers,
    argument,
    method_call,
    names,
    operations_of,
)

_ROWS = operations_of("CL804")
_ALWAYS = frozenset(row.op for row in _ROWS if not row.form)
_SORTING = frozenset(row.op for row in _ROWS if row.form.startswith("enforce_sorted=False"))
_BACKWARD = frozenset(row.op for row in _ROWS if row.form) - _SORTING
# Where `enforce_sorted` stands among the arguments.
_ENFORCE_SORTED = {"pack_padded_sequence": 3, "pack_sequence": 1}


class UncapturableOp(Rule):
    about = About(code="CL804", name="uncapturable-op", effects=(Effect.REFUSES,), since="0.1")
    triggers = Triggers(
        names=names(row.op.removeprefix("Tensor.") for row in _ROWS)
        | names(row.op.rpartition(".")[2] for row in _ROWS)
        | {"backward", "grad", "torch.nn.CTCLoss.__call__"}
    )

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._has_backward = False
        self._differentiated: list[tuple[cst.Call, str]] = []

    def visit_Call(self, node: cst.Call) -> None:
        name = self.full_name(node.func)
        called = method_call(node)
        if name == "torch.autograd.grad" or (called is not None and called[1] == "backward"):
            self._has_backward = True
        if name in _ALWAYS:
            if not self._is_on_host(node):
                self.report(
                    node, f"`{name}()` lays out its result by values, which capture refuses"
                )
        elif name in _SORTING:
            self._judge_packing(node, name)
        elif name in _BACKWARD:
            self._differentiated.append((node, f"{name}()"))
        elif called is not None and not name:
            self._judge_method(node, *called)

    def leave_Module(self, original_node: cst.Module) -> None:  # noqa: ARG002  (libcst names it)
        if self._has_backward:
            for node, text in self._differentiated:
                self.report(node, f"the backward of `{text}` waits for the device in this region")

    def _judge_packing(self, node: cst.Call, name: str) -> None:
        position = _ENFORCE_SORTED[name.rpartition(".")[2]]
        order = argument(node, "enforce_sorted", position)
        if isinstance(order, cst.Name) and order.value == "False" and not self._is_on_host(node):
            self.report(node, f"`{name}()` copies the order of the sequences to the device")

    def _judge_method(self, node: cst.Call, receiver: cst.BaseExpression, method: str) -> None:
        value = self.value(receiver)
        if not value.is_device_tensor or value.weak:
            return
        if f"Tensor.{method}" in _ALWAYS:
            self.report(node, f"`.{method}()` lays out its result by values, which capture refuses")
        elif f"Tensor.{method}" in _BACKWARD:
            self._differentiated.append((node, f".{method}()"))

    def _is_on_host(self, node: cst.Call) -> bool:
        """Return whether the first argument is known to live on the host."""
        if not node.args:
            return True
        first = self.value(node.args[0].value)
        is_listed = bool(first.items) and all(item.is_host for item in first.items or ())
        return first.is_host and (is_listed or first.is_tensor)
