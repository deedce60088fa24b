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

from collections.abc import Iterator

import libcst as cst

from capturelint.rule import (
    About,
    Effect,
    Rule,
    Trait,
    Triggers,
    argument,
    method_call,
    names,
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

# Comparisons that give a plain bool whatever they compare.
_PLAIN_COMPARISONS = (cst.Is, cst.IsNot, cst.In, cst.NotIn)
# Methods whose result is a tensor if the receiver is one.
_TESTS = names(["all any sum max min isnan isinf isfinite eq ne gt ge lt le count_nonzero"])


class TensorAssert(Rule):
    about = About(code="CL402", name="tensor-assert", effects=(Effect.REFUSES,), since="0.1")
    triggers = Triggers(
        names=_METHODS | names(name.rpartition(".")[2] for name in (*_FUNCTIONS, _CLIP)),
        traits=frozenset({Trait.TENSOR_TEST}),
    )

    def visit_Assert(self, node: cst.Assert) -> None:
        self._judge(node.test, "assert")

    def visit_If(self, node: cst.If) -> None:
        if _only_raises(node):
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
        found = _tested_tensor(self, test)
        if found is not None:
            self._say(found, word)

    def _judge_function(self, node: cst.Call, name: str) -> None:
        count = 2 if name in _PAIRS else 1
        judged = [arg.value for arg in node.args[:count]]
        if name in _ANYTHING:
            is_tensor = any(_tested_tensor(self, value) is not None for value in judged)
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


def _only_raises(node: cst.If) -> bool:
    last = node.body.body[-1] if node.body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, cst.Raise) and node.orelse is None


def _tested_tensor(
    rule: Rule, test: cst.BaseExpression, *, is_kept: bool = False
) -> cst.BaseExpression | None:
    """Return the first operand of `test` that is a device tensor and whose truth Python asks.

    `is_kept` where the value of the whole is kept rather than tested, as in `y = a and b`.
    """
    for operand in _asked(test, is_kept=is_kept):
        if _is_tensor_test(rule, operand):
            return operand
    return None


def _asked(test: cst.BaseExpression, *, is_kept: bool) -> Iterator[cst.BaseExpression]:
    if isinstance(test, cst.BooleanOperation):
        yield from _asked(test.left, is_kept=False)
        yield from _asked(test.right, is_kept=is_kept)
    elif isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        yield from _asked(test.expression, is_kept=False)
    elif isinstance(test, cst.NamedExpr):
        yield from _asked(test.value, is_kept=is_kept)
    elif not is_kept or (isinstance(test, cst.Comparison) and len(test.comparisons) > 1):
        yield test


def _is_tensor_test(rule: Rule, operand: cst.BaseExpression) -> bool:
    if isinstance(operand, cst.Comparison):
        return _compares_tensors(rule, operand)
    value = rule.value(operand)
    if value.weak or value.optional:
        # Such a name may hold a number or None; the result of an operation on tensors cannot.
        return value.is_device_tensor and _is_tensor_operation(rule, operand)
    return value.is_device_tensor


def _compares_tensors(rule: Rule, node: cst.Comparison) -> bool:
    if any(isinstance(link.operator, _PLAIN_COMPARISONS) for link in node.comparisons):
        return False
    sides = [rule.value(node.left), *(rule.value(link.comparator) for link in node.comparisons)]
    if any(isinstance(constant, str | None) for side in sides for constant in side.constant):
        return False
    is_chain = len(node.comparisons) > 1
    return rule.value(node).is_device_tensor or (
        is_chain and any(side.is_device_tensor for side in sides)
    )


def _is_tensor_operation(rule: Rule, operand: cst.BaseExpression) -> bool:
    if not isinstance(operand, cst.Call):
        return False
    called = method_call(operand)
    if called is not None and called[1] in _TESTS:
        return True
    return rule.full_name(operand.func).startswith("torch.")
