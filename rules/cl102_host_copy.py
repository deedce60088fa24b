"""Copying a tensor to the host waits for the device, and capture forbids the copy.

`.cpu()`, `.to("cpu")`, `.numpy()`, `numpy.asarray(t)`, and `host.copy_(t)` into a tensor on the
host. What is done with the copy afterwards is work on the host and is not reported again.

## Why capture cares

A copy between the device and ordinary host memory cannot be part of a graph: torch raises "Cannot
copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned". With
`non_blocking=True` torch copies into pinned memory and the capture succeeds, but the host goes on
at once: it reads what was there before the copy, and Python does not run again when the graph is
replayed.

Measured on an H200 with torch 2.11: `.cpu()`, `.to("cpu")`, `.numpy(force=True)` and
`host.copy_(t)` refuse at their line; `.to("cpu", non_blocking=True)` captures.

## What to do instead

Return the tensor and copy it after `graph.replay()`, or keep the work on the device. To overlap the
copy, give it a pinned tensor, record an event and wait for that event before reading.

`.cpu()` and `.to("cpu")` are also reported where nothing is known of what they are called on;
`.numpy()` without `force=True` only of a known device tensor, since it works on no other than host
tensors. A target that is a name, as in `.to(device)`, is not taken for the CPU, and a blocking copy
into pinned memory is taken for the staging of host data.
"""

from __future__ import annotations

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
    is_asynchronous,
    method_call,
    names,
)

_ARRAYS = frozenset({"numpy.asarray", "numpy.array"})
_METHODS = names(["cpu to numpy copy_"])


class HostCopy(Rule):
    about = About(
        code="CL102",
        name="host-copy",
        effects=(Effect.REFUSES, Effect.STALE),
        since="0.1",
        waits=True,
    )
    triggers = Triggers(
        names=names(["cpu numpy to(cpu) type(cpu) copy_(host) asarray(tensor) array(tensor)"])
    )

    def visit_Call(self, node: cst.Call) -> None:
        name = self.full_name(node.func)
        if name in _ARRAYS:
            self._judge_array(node, name)
            return
        called = method_call(node)
        if called is not None and called[1] in _METHODS and not name:
            self._judge_method(node, *called)

    def _judge_array(self, node: cst.Call, name: str) -> None:
        source = argument(node, "a", 0) or argument(node, "object", 0)
        # Such a call works on host tensors alone, so a tensor that is only supposed is none.
        if source is not None and _is_sure(self.value(source)):
            # Outside a capture it raises for a tensor on the device, so there it is none.
            self._refuse(node, f"{name}()", waits=False)

    def _judge_method(self, node: cst.Call, receiver: cst.BaseExpression, method: str) -> None:
        value = self.value(receiver)
        if method == "copy_":
            self._judge_copy_into(node, value)
        elif not (value.is_device_tensor if self.subject.is_step else _may_be_on_device(value)):
            return
        elif method == "cpu":
            self._refuse(node, ".cpu()")
        elif method == "numpy":
            if value.is_device_tensor or self._is_true(node, "force"):
                self._refuse(node, ".numpy()", waits=self._is_true(node, "force"))
        elif self._goes_to_host(node):
            self._judge_to(node)

    def _judge_to(self, node: cst.Call) -> None:
        if self._is_true(node, "non_blocking"):
            self._stale(node, '.to("cpu", non_blocking=True)')
        else:
            self._refuse(node, '.to("cpu")', waits=not is_asynchronous(node))

    def _judge_copy_into(self, node: cst.Call, target: Value) -> None:
        source = argument(node, "src", 0)
        if target.kind is not Kind.HOST_TENSOR or source is None:
            return
        if not _is_sure(self.value(source)):
            return
        if target.pinned is not Pinned.YES:
            self._refuse(node, ".copy_(tensor)", waits=not is_asynchronous(node))
        elif self._is_true(node, "non_blocking"):
            self._stale(node, ".copy_(tensor, non_blocking=True)")

    def _goes_to_host(self, node: cst.Call) -> bool:
        target = argument(node, "device", 0)
        # A name may hold "cpu" by default and something else in earnest.
        if not isinstance(target, cst.SimpleString | cst.Call):
            return False
        return _is_cpu(self.value(target))

    def _is_true(self, node: cst.Call, keyword: str) -> bool:
        given = argument(node, keyword)
        return given is not None and self.value(given).constant == (True,)

    def _refuse(self, node: cst.Call, form: str, *, waits: bool = True) -> None:
        self.report(
            node,
            f"`{form}` copies a tensor to the host, which capture refuses",
            effects=(Effect.REFUSES,),
            waits=waits,
        )

    def _stale(self, node: cst.Call, form: str) -> None:
        self.report(
            node,
            f"`{form}` is captured, but the host reads the copy before it is made",
            effects=(Effect.STALE,),
        )


def _may_be_on_device(value: Value) -> bool:
    """Return whether a tensor is on the device as far as is known; other objects are not."""
    is_unknown = value.kind is Kind.UNKNOWN and not value.refs and not value.name
    return value.is_device_tensor or is_unknown


def _is_sure(value: Value) -> bool:
    return value.is_device_tensor and not value.weak and not value.optional


def _is_cpu(value: Value) -> bool:
    text = value.constant[0] if value.constant else None
    return isinstance(text, str) and text.partition(":")[0] == "cpu"
