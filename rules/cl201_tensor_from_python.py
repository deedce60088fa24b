"""A tensor made from Python values on the device is a copy from ordinary host memory.

`torch.tensor`, `torch.as_tensor` and `torch.asarray` with a device, `x.new_tensor(...)`, and
`torch.tensor` of a list of tensors, which reads each of them on the host.

## Why capture cares

The values are written into a tensor on the host and copied from there. torch refuses that copy
during capture: "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU
tensor is pinned". If it were captured, each replay would use the values of the first call.

Measured on an H200 with torch 2.11: numbers, lists and ranges refuse, with `device=` and with
`new_tensor`. `torch.tensor([])` captures, and so does `torch.tensor(t)` of one device tensor.
`torch.zeros`, `ones`, `full`, `arange`, `scalar_tensor` and `x.new_full` write on the device
itself and capture.

## What to do instead

Make constants once: in `__init__`, with `register_buffer`, or before the region. For a single
number use `torch.full((), value, device=x.device)` or the number itself; for a run of numbers
`torch.arange`; for tensors in a list `torch.stack`. Values that change per call belong in a static
input that is copied into before `graph.replay()`.

Without a device the tensor stays on the host and nothing is reported here; moving it to the device
later is CL202. `with torch.device("cuda"):` around the call is not seen. Outside of captured code
a device is not enough that is that of something only supposed to be a tensor there.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import (
    About,
    Effect,
    Kind,
    Rule,
    Triggers,
    Value,
    argument,
    method_call,
    names,
)

_FUNCTIONS = ("torch.tensor", "torch.as_tensor", "torch.asarray")
_LITERALS = (cst.List, cst.Tuple, cst.ListComp, cst.Integer, cst.Float)


class TensorFromPython(Rule):
    about = About(
        code="CL201", name="tensor-from-python", effects=(Effect.REFUSES,), since="0.1", waits=True
    )
    triggers = Triggers(names=names(["tensor as_tensor asarray new_tensor"]))

    def visit_Call(self, node: cst.Call) -> None:
        name = self.full_name(node.func)
        called = method_call(node)
        if name in _FUNCTIONS:
            self._judge_function(node, name)
        elif called is not None and called[1] == "new_tensor" and not name:
            self._judge_new_tensor(node, called[0])

    def _judge_function(self, node: cst.Call, name: str) -> None:
        data = argument(node, "data", 0) or argument(node, "obj", 0)
        if data is None:
            return
        if self._holds_device_tensors(data):
            self.report(node, f"`{name}()` of device tensors reads each of them on the host")
        elif self._is_python(data, or_unknown=name == "torch.tensor"):
            device = argument(node, "device")
            if device is not None and self._is_on_device(device):
                self._say(node, name)

    def _judge_new_tensor(self, node: cst.Call, receiver: cst.BaseExpression) -> None:
        data = argument(node, "data", 0)
        device = argument(node, "device")
        if data is None or not self.value(receiver).is_device_tensor:
            return
        if self._holds_device_tensors(data):
            self.report(node, "`.new_tensor()` of device tensors reads each of them on the host")
            return
        is_on_device = device is None or self._is_on_device(device)
        if is_on_device and self._is_python(data, or_unknown=True):
            self._say(node, ".new_tensor")

    def _holds_device_tensors(self, data: cst.BaseExpression) -> bool:
        if isinstance(data, cst.List | cst.Tuple):
            return any(_is_sure(self.value(element.value)) for element in data.elements)
        if isinstance(data, cst.ListComp):
            return _is_sure(self.value(data.elt))
        return False

    def _is_python(self, data: cst.BaseExpression, *, or_unknown: bool) -> bool:
        if isinstance(data, cst.List | cst.Tuple) and not data.elements:
            return False
        value = self.value(data)
        if isinstance(data, _LITERALS) or value.kind in (Kind.HOST_VALUE, Kind.SHAPE):
            return not value.is_none
        return or_unknown and value.kind is Kind.UNKNOWN

    def _is_on_device(self, device: cst.BaseExpression) -> bool:
        """Return whether a `device=` means the GPU; in captured code one that is not known does."""
        value = self.value(device)
        if value.weak and not self.subject.captured:
            return False
        if value.kind is Kind.HOST_TENSOR or value.is_none:
            return False
        text = value.constant[0] if value.constant else "cuda"
        return not isinstance(text, str) or text.partition(":")[0] not in ("cpu", "meta")

    def _say(self, node: cst.Call, name: str) -> None:
        self.report(node, f"`{name}()` copies Python values to the device, which capture refuses")


def _is_sure(value: Value) -> bool:
    return value.is_device_tensor and not value.weak and not value.optional
