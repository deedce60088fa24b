"""Reading a tensor's value on the host stops the CPU until the GPU has caught up.

`.item()` and `.tolist()`, and the Python functions that ask a tensor for a number: `int`, `float`,
`bool`, `complex`, `operator.index` and those of `math`.

## Why capture cares

While a stream is capturing, kernels are recorded rather than run, so there is no value to read.
CUDA refuses the wait and the capture is lost. Run eagerly the same line works and is merely slow,
which is why tests without a graph pass.

Measured on an H200 with torch 2.11: each of them refuses at its own line. On a tensor that lives on
the host they capture, and are not reported.

## What to do instead

Keep the value on the device: `torch.where` for a choice, `clamp` for a bound, a 0-d tensor for a
scale, `torch.sqrt` for `math.sqrt`. Sizes are on the host already: `x.shape[0]` and `len(x)` read
nothing. If the host truly needs the number, read it before the region, or after `graph.replay()`.

`.item()` and `.tolist()` are also reported where nothing is known of what they are called on, since
only tensors and arrays have them; the functions only where the argument is known to be a tensor on
the device.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import (
    About,
    Effect,
    Kind,
    Rule,
    Triggers,
    method_call,
    names,
    operations_of,
)

_METHODS = names(["item tolist"])
_HOST_WORDS = names(["cpu host np numpy"])
_FUNCTIONS = frozenset(row.op for row in operations_of("CL101") if not row.op.startswith("Tensor."))


class HostRead(Rule):
    about = About(
        code="CL101", name="host-read", effects=(Effect.REFUSES,), since="0.1", waits=True
    )
    triggers = Triggers(names=_METHODS | names(f"{name}(tensor)" for name in _FUNCTIONS))

    def visit_Call(self, node: cst.Call) -> None:
        name = self.full_name(node.func)
        if name in _FUNCTIONS:
            self._judge_function(node, name)
            return
        called = method_call(node)
        if called is not None and called[1] in _METHODS and not name and not node.args:
            self._judge_method(node, *called)

    def _judge_method(self, node: cst.Call, receiver: cst.BaseExpression, method: str) -> None:
        value = self.value(receiver)
        # An object of the project may have an `item` of its own.
        is_unknown = value.kind is Kind.UNKNOWN and not value.refs and not value.name
        if self.subject.is_step:
            # There arrays and tensors on the host are about, but few of a single element.
            is_unknown = is_unknown and method == "item" and not _names_host(receiver)
        if value.is_device_tensor or is_unknown:
            self.report(node, f"`.{method}()` reads a tensor on the host during capture")

    def _judge_function(self, node: cst.Call, name: str) -> None:
        values = [self.value(arg.value) for arg in node.args if not arg.star]
        if any(value.is_device_tensor and not value.optional for value in values):
            word = name.removeprefix("builtins.")
            self.report(node, f"`{word}()` reads a tensor on the host during capture")


def _names_host(node: cst.BaseExpression) -> bool:
    """Return whether a name in a chain of attributes and calls says that it is on the host."""
    while not isinstance(node, cst.Name):
        if isinstance(node, cst.Attribute) and _is_host_name(node.attr.value):
            return True
        if isinstance(node, cst.Call):
            node = node.func
        elif isinstance(node, cst.Attribute | cst.Subscript):
            node = node.value
        else:
            return False
    return _is_host_name(node.value)


def _is_host_name(name: str) -> bool:
    return not _HOST_WORDS.isdisjoint(name.lower().split("_"))
