"""A check of a tensor's value on the host makes it wait until the device has computed that value.

`assert` on a tensor, an `if` on a tensor that only raises, and the functions that answer with a
Python bool or raise: `torch.equal`, `torch.allclose`, `torch.is_nonzero`, `torch._assert`,
`torch.testing.assert_close`, `clip_grad_norm_` with `error_if_nonfinite=True`.

## Why capture cares

While a stream is capturing, kernels are recorded rather than run, so there is nothing to check.
CUDA refuses the read and the capture is lost. Nor would a check that passed during capture say
anything about a replay, which runs no Python.

Measured on an H200 with torch 2.11: `assert torch.isfinite(x).all()`, `if torch.isnan(x).any():
raise` and every function named above refuse at their line. `torch.equal(x, x)` of one and the same
tensor does not: it answers without a look.

## What to do instead

`torch._assert_async(cond)` checks on the device, in the graph, at about 2 microseconds a node; a
failure then stops the process at the next wait, so it is for what must never happen. Otherwise
check before the region, or after `graph.replay()`, or only where
`not torch.cuda.is_current_stream_capturing()`. `torch.isclose` and `torch.eq` stay on the device.

Asserts about shapes, dtypes and devices read no value and stay silent.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import (
    About,
    Effect,
    Rule,
    Trait,
    Triggers,
    argument,
    asked_tensor,
    method_call,
    names,
    only_raises,
    operations_of,
)

# Functions and methods that answer with a Python bool.
_FUNCTIONS = frozenset(
    row.op for row in operations_of("CL402") if row.op.startswith("torch.") and not row.form
) | {"torch._assert"}
_METHODS = names(
    row.op.removeprefix("Tensor.") for row in operations_of("CL402") if row.op.startswith("Tensor.")
)
_CLIP = "torch.nn.utils.clip_grad_norm_"
# Those that compare two values; the others look at one.
_PAIRS = ("torch.equal", "torch.allclose", "torch.testing.assert_close")
# Those that take numbers and lists as well as tensors.
_ANYTHING = ("torch._assert", "torch.testing.assert_close")


class TensorAssert(Rule):
    about = About(
        code="CL402", name="tensor-assert", effects=(Effect.REFUSES,), since="0.1", waits=True
    )
    triggers = Triggers(
        names=_METHODS | names(name.rpartition(".")[2] for name in (*_FUNCTIONS, _CLIP)),
        traits=frozenset({Trait.TENSOR_TEST}),
    )

    def visit_Assert(self, node: cst.Assert) -> None:
        self._judge(node.test, "assert")

    def visit_If(self, node: cst.If) -> None:
        if only_raises(node):
            self._judge(node.test, "if ...: raise")

    def visit_Call(self, node: cst.Call) -> None:
        name = self.full_name(node.func)
        if name in _FUNCTIONS:
            self._judge_function(node, name)
        elif name == _CLIP:
            self._judge_clip(node)
        elif not name:
            self._judge_method(node)

    def _judge(self, test: cst.BaseExpression, word: str) -> None:
        found = asked_tensor(self.value, test)
        if found is not None:
            self._say(found, word)

    def _judge_function(self, node: cst.Call, name: str) -> None:
        count = 2 if name in _PAIRS else 1
        judged = [arg.value for arg in node.args[:count]]
        if name in _ANYTHING:
            is_tensor = any(asked_tensor(self.value, value) is not None for value in judged)
        else:
            # The others take tensors alone, so that an argument not known still is one.
            is_tensor = not any(self.value(value).is_host for value in judged)
        if is_tensor:
            self._say(node, f"{name}()")

    def _judge_clip(self, node: cst.Call) -> None:
        raises = argument(node, "error_if_nonfinite", 3)
        if raises is not None and self.value(raises).constant == (True,):
            self._say(node, "clip_grad_norm_(error_if_nonfinite=True)")

    def _judge_method(self, node: cst.Call) -> None:
        called = method_call(node)
        if called is None or called[1] not in _METHODS:
            return
        receiver = self.value(called[0])
        if receiver.is_device_tensor and not receiver.weak:
            self._say(node, f".{called[1]}()")

    def _say(self, node: cst.BaseExpression, word: str) -> None:
        self.report(node, f"`{word}` checks a tensor's value on the host, which capture refuses")
