"""A tensor of one number on the host is baked into the kernel that uses it.

`x * scale` where `scale` is a 0-d tensor on the CPU that changes from call to call.

## Why capture cares

torch takes such a number out of host memory when it launches the kernel and hands it over as a
plain argument. Capture records the argument, so every replay uses the number of the captured call,
whatever the tensor holds by then. Nothing raises, and the first replay is right.

Measured on an H200 with torch 2.11: `x * scale`, `torch.add`, `torch.lerp` and `torch.maximum` with
a CPU number capture, and later replays compute with the old one. `torch.where` refuses (CL202).

## What to do instead

Keep the number on the device: a 0-d buffer that follows the module, updated in place
(`self.scale.copy_(new)`) before the replay or inside the graph. A number that never changes may
stay on the host, and is not reported.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import (
    About,
    Effect,
    Kind,
    Rule,
    Trait,
    Triggers,
    method_call,
    names,
)

_OPERATIONS = names(
    [
        "add sub mul div pow lerp true_divide fmod remainder maximum minimum addcmul addcdiv",
        "add_ sub_ mul_ div_ lerp_ lt le gt ge eq ne",
    ]
)


class HostScalarTensor(Rule):
    about = About(code="CL205", name="host-scalar-tensor", effects=(Effect.STALE,), since="0.1")
    triggers = Triggers(traits=frozenset({Trait.HOST_SCALAR_OPERAND}))

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        self._judge(node, [node.left, node.right])

    def visit_Comparison(self, node: cst.Comparison) -> None:
        self._judge(node, [node.left, *(link.comparator for link in node.comparisons)])

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._judge(node, [node.target, node.value])

    def visit_Call(self, node: cst.Call) -> None:
        given = [arg.value for arg in node.args if not arg.star]
        name = self.full_name(node.func)
        called = method_call(node)
        if name.startswith("torch.") and name.rpartition(".")[2] in _OPERATIONS:
            self._judge(node, given)
        elif called is not None and not name and called[1] in _OPERATIONS:
            self._judge(node, [called[0], *given])

    def _judge(self, node: cst.CSTNode, operands: list[cst.BaseExpression]) -> None:
        if not any(self.value(operand).is_device_tensor for operand in operands):
            return
        if any(map(self._is_changing_number, operands)):
            self.report(node, "a CPU tensor's value is baked into the graph and goes stale")

    def _is_changing_number(self, operand: cst.BaseExpression) -> bool:
        value = self.value(operand)
        return value.kind is Kind.HOST_TENSOR and value.varies and value.rank == 0
