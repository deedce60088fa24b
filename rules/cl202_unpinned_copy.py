"""Moving a tensor from ordinary host memory to the device cannot be captured.

`table.to(device)`, `.cuda()`, `.type_as(x)`, `torch.from_numpy(a).to(device)`, `x.copy_(table)`,
`torch.as_tensor(table, device=...)` and `torch.where(mask, x, host_value)`, where the tensor
lives on the host: a table kept on the CPU, a buffer made in the forward pass, an array.

## Why capture cares

A graph may hold a copy from the host only if that memory is pinned. Otherwise torch raises "Cannot
copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned", with
`non_blocking=True` too. A blocking copy of a pinned tensor waits for the device and is refused as
well. This is the most frequent failure of real models.

Measured on an H200 with torch 2.11: each form refuses at its own line. A pinned tensor with
`non_blocking=True` captures; every replay then reads the host memory again.

## What to do instead

Move the tensor once: `register_buffer` in `__init__`, so that it follows the module, or a move
before the region. Make constants where they are used: `torch.arange(n, device=x.device)` instead
of `torch.arange(n).to(x.device)`. Values that change per call go into a static input that is
copied into before `graph.replay()`.

Only tensors that are known to live on the host are reported; an attribute that some other code
fills, or a parameter without a caller in sight, is not. Outside of captured code neither is a copy to
the device of what is only supposed to be a tensor there.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from capturelint.rule import (
    About,
    Effect,
    Kind,
    Pinned,
    Rule,
    Triggers,
    Value,
    argument,
    has_star_arguments,
    is_asynchronous,
    method_call,
    names,
)

_MOVES = names(["to type_as cuda"])
_CONVERSIONS = ("torch.tensor", "torch.as_tensor", "torch.asarray")
_METHODS = names(["to type_as cuda copy_"])


class UnpinnedCopy(Rule):
    about = About(
        code="CL202", name="unpinned-copy", effects=(Effect.REFUSES,), since="0.1", waits=True
    )
    triggers = Triggers(
        names=names(
            f"{word}(host)" for word in (*_METHODS, "tensor", "as_tensor", "asarray", "where")
        )
    )

    def visit_Call(self, node: cst.Call) -> None:
        name = self.full_name(node.func)
        called = method_call(node)
        if name in _CONVERSIONS:
            self._judge_conversion(node, name)
        elif name == "torch.where":
            self._judge_where(node, [arg.value for arg in node.args])
        elif called is not None and not name:
            self._judge_method(node, *called)

    def _judge_method(self, node: cst.Call, receiver: cst.BaseExpression, method: str) -> None:
        value = self.value(receiver)
        if method == "where" and value.is_device_tensor:
            self._judge_where(node, [receiver, *(arg.value for arg in node.args)])
        elif method == "copy_" and _is_sure(value):
            self._judge_copy_into(node)
        elif value.kind is not Kind.HOST_TENSOR or method not in _MOVES:
            return
        elif method == "cuda" or self._goes_to_device(node):
            self._judge_move(node, value, f".{method}()")

    def _judge_move(self, node: cst.Call, source: Value, form: str) -> None:
        if source.pinned is Pinned.NO:
            self._say(node, form, waits=not is_asynchronous(node))
        elif not is_asynchronous(node) and not has_star_arguments(node):
            self._say_waiting(node, form)

    def _judge_copy_into(self, node: cst.Call) -> None:
        source = argument(node, "src", 0)
        if source is not None and self._is_host_tensor(source):
            self._judge_move(node, self.value(source), ".copy_()")

    def _judge_conversion(self, node: cst.Call, name: str) -> None:
        data = argument(node, "data", 0) or argument(node, "obj", 0)
        device = argument(node, "device")
        if data is None or device is None or not self._is_host_tensor(data):
            return
        if not self._is_device(device):
            return
        if self.value(data).pinned is not Pinned.NO and name != "torch.tensor":
            self._say_waiting(node, f"{name}()")
        else:
            self._say(node, f"{name}()")

    def _judge_where(self, node: cst.Call, operands: list[cst.BaseExpression]) -> None:
        is_device_work = any(_is_sure(self.value(operand)) for operand in operands)
        if is_device_work and any(map(self._is_host_tensor, operands)):
            self._say(node, "where()", waits=False)

    def _goes_to_device(self, node: cst.Call) -> bool:
        return any(map(self._is_device, _targets(node)))

    def _is_device(self, target: cst.BaseExpression) -> bool:
        """Return whether an argument of `.to` stands for the GPU; a dtype does not."""
        value = self.value(target)
        if value.weak and not self.subject.captured:
            return False
        if value.constant:
            text = value.constant[0]
            return isinstance(text, str) and text.partition(":")[0] not in ("cpu", "meta")
        if value.kind is Kind.HOST_TENSOR:
            return False
        return value.is_device_tensor or "device" in _last_word(target)

    def _is_host_tensor(self, node: cst.BaseExpression) -> bool:
        return self.value(node).kind is Kind.HOST_TENSOR

    def _say(self, node: cst.Call, form: str, *, waits: bool = True) -> None:
        message = f"`{form}` copies unpinned host memory to the device during capture"
        self.report(node, message, waits=waits)

    def _say_waiting(self, node: cst.Call, form: str) -> None:
        """Report a blocking copy, which is refused wherever its source lies."""
        text = f"`{form}` waits for its copy from the host; a pinned one needs `non_blocking=True`"
        self.report(node, text)


def _targets(node: cst.Call) -> Iterator[cst.BaseExpression]:
    for index, arg in enumerate(node.args):
        is_target = arg.keyword is not None and arg.keyword.value in ("device", "other")
        if is_target or (index == 0 and arg.keyword is None and not arg.star):
            yield arg.value


def _last_word(node: cst.BaseExpression) -> str:
    """Return the last name in an expression: `device` of `self.model.device`."""
    while isinstance(node, cst.Call):
        node = node.func
    if isinstance(node, cst.Attribute):
        return node.attr.value.lower()
    return node.value.lower() if isinstance(node, cst.Name) else ""


def _is_sure(value: Value) -> bool:
    return value.is_device_tensor and not value.weak and not value.optional
