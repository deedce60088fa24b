"""A loop whose number of turns is a tensor makes the host wait for the device before each turn.

`while` on a tensor's value, and `for ... in range(n)` where `n` is a tensor on the device.

## Why capture cares

While a stream is capturing, kernels are recorded rather than run, so the host cannot know whether
to go round again. CUDA refuses the read and the capture is lost. A graph has a fixed list of
kernels in any case: it cannot loop more or fewer times from one replay to the next.

Measured on an H200 with torch 2.11: `for _ in range(n)` and `while` on a tensor refuse at the line
of the loop.

## What to do instead

Run a fixed number of turns and keep the results of those that count:
`state = torch.where(done, state, step(state))`. Loops that stop early, such as decoding until every
row has ended or iterating until a tolerance, belong outside: capture one turn, and let the host
replay it and look at the stopping flag every few turns. If the count is known on the host (a
Python number, a shape), pass that.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from capturelint.rule import About, Effect, Rule, Trait, Triggers, method_call, names

# Comparisons that give a plain bool whatever they compare.
_PLAIN_COMPARISONS = (cst.Is, cst.IsNot, cst.In, cst.NotIn)
# Methods whose result is a tensor if the receiver is one.
_TESTS = names(["all any sum max min isnan isinf isfinite eq ne gt ge lt le count_nonzero"])


class TensorTripCount(Rule):
    about = About(code="CL403", name="tensor-trip-count", effects=(Effect.REFUSES,), since="0.1")
    triggers = Triggers(names=names(["range(tensor)"]), traits=frozenset({Trait.TENSOR_TEST}))

    def visit_While(self, node: cst.While) -> None:
        found = _tested_tensor(self, node.test)
        if found is not None:
            self.report(
                found, "`while` reads a tensor's value before each turn, which capture refuses"
            )

    def visit_For(self, node: cst.For) -> None:
        self._judge_turns(node.iter)

    def visit_CompFor(self, node: cst.CompFor) -> None:
        self._judge_turns(node.iter)

    def _judge_turns(self, turns: cst.BaseExpression) -> None:
        if not isinstance(turns, cst.Call) or self.full_name(turns.func) != "builtins.range":
            return
        bounds = [self.value(arg.value) for arg in turns.args]
        if any(bound.is_device_tensor and not bound.weak for bound in bounds):
            self.report(turns, "`range()` reads its bound from a tensor, which capture refuses")


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
