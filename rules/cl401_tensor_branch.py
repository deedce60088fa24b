"""A branch on a tensor's value makes the host wait until the device has computed that value.

`if`, `elif`, a conditional expression, `and`, `or`, `not`, a `match` with values to compare and the
condition of a comprehension all ask the tensor for its truth, and `bool(tensor)` is a read on the
host. It also counts when the tensor came there through a local name or from a helper.

## Why capture cares

While a stream is capturing, kernels are recorded rather than run, so there is no value to branch
on. CUDA refuses the read and the capture is lost. If it did not, the graph would hold the one path
taken during capture and every replay would follow it.

Measured on an H200 with torch 2.11: `if x.sum() > 0`, `if mask.all()` and `if torch.isnan(x).any()`
refuse in every capture mode, with and without warm-up, at the line of the `if`. So do a conditional
expression, `and`, `or`, `not`, `0 < t < 1`, `match` and the condition of a comprehension.

## What to do instead

Compute both outcomes and choose on the device: `torch.where(cond, a, b)`, or `x.clamp(min=...)` for
a bound, or multiply by `cond.to(x.dtype)`. A branch that only skips work is often cheaper removed:
an operation on an empty or all-zero mask costs a kernel, the branch costs the graph. If the host
must decide, decide before the region and capture one graph for each outcome, or put the test behind
`not torch.cuda.is_current_stream_capturing()`.

Tests of shapes, dtypes, devices, `is None` and `isinstance` never read a value and stay silent.
A name is not reported alone where it may hold None or a number instead of a tensor.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from capturelint.rule import About, Effect, Rule, Subject, Trait, Triggers, method_call, names

# Comparisons that give a plain bool whatever they compare.
_PLAIN_COMPARISONS = (cst.Is, cst.IsNot, cst.In, cst.NotIn)
# Methods whose result is a tensor if the receiver is one.
_TESTS = names(["all any sum max min isnan isinf isfinite eq ne gt ge lt le count_nonzero"])


class TensorBranch(Rule):
    about = About(code="CL401", name="tensor-branch", effects=(Effect.REFUSES,), since="0.1")
    triggers = Triggers(traits=frozenset({Trait.TENSOR_TEST}))

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._judged: set[cst.CSTNode] = set()

    def visit_If(self, node: cst.If) -> None:
        if _only_raises(node):
            self._leave_to_another_rule(node.test)
        else:
            self._judge(node.test, "if")

    def visit_IfExp(self, node: cst.IfExp) -> None:
        self._judge(node.test, "... if ... else ...")

    def visit_CompIf(self, node: cst.CompIf) -> None:
        self._judge(node.test, "if")

    def visit_While(self, node: cst.While) -> None:
        self._leave_to_another_rule(node.test)

    def visit_Assert(self, node: cst.Assert) -> None:
        self._leave_to_another_rule(node.test)

    def visit_Match(self, node: cst.Match) -> None:
        if self.value(node.subject).is_device_tensor and any(map(_compares, node.cases)):
            self._say(node.subject, "match")
        for case in node.cases:
            if case.guard is not None:
                self._judge(case.guard, "case ... if")

    def visit_BooleanOperation(self, node: cst.BooleanOperation) -> None:
        word = "and" if isinstance(node.operator, cst.And) else "or"
        self._judge(node, word, is_kept=True)

    def visit_UnaryOperation(self, node: cst.UnaryOperation) -> None:
        if isinstance(node.operator, cst.Not):
            self._judge(node, "not", is_kept=True)

    def visit_Comparison(self, node: cst.Comparison) -> None:
        if len(node.comparisons) > 1:
            self._judge(node, "a < b < c", is_kept=True)

    def _judge(self, test: cst.BaseExpression, word: str, *, is_kept: bool = False) -> None:
        if test in self._judged:
            return
        self._judged.update(_parts(test))
        found = _tested_tensor(self, test, is_kept=is_kept)
        if found is not None:
            self._say(found, word)

    def _leave_to_another_rule(self, test: cst.BaseExpression) -> None:
        self._judged.update(_parts(test))

    def _say(self, node: cst.BaseExpression, word: str) -> None:
        self.report(node, f"`{word}` reads a tensor's value on the host, which capture refuses")


def _only_raises(node: cst.If) -> bool:
    last = node.body.body[-1] if node.body.body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, cst.Raise) and node.orelse is None


def _compares(case: cst.MatchCase) -> bool:
    """Return whether a case compares its subject by value, which asks the result for its truth."""
    pattern = case.pattern
    if isinstance(pattern, cst.MatchAs) and pattern.pattern is not None:
        pattern = pattern.pattern
    options = [pattern]
    if isinstance(pattern, cst.MatchOr):
        options = [element.pattern for element in pattern.patterns]
    return any(isinstance(option, cst.MatchValue) for option in options)


def _parts(test: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    """Yield `test` and the operands of its `and`, `or`, `not` and `:=`: judged along with it."""
    yield test
    if isinstance(test, cst.BooleanOperation):
        yield from _parts(test.left)
        yield from _parts(test.right)
    elif isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        yield from _parts(test.expression)
    elif isinstance(test, cst.NamedExpr):
        yield from _parts(test.value)


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
