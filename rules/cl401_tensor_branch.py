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

import libcst as cst

from capturelint.rule import (
    About,
    Effect,
    Rule,
    Subject,
    Trait,
    Triggers,
    asked_tensor,
    only_raises,
    parts_of_test,
)


class TensorBranch(Rule):
    about = About(
        code="CL401", name="tensor-branch", effects=(Effect.REFUSES,), since="0.1", waits=True
    )
    triggers = Triggers(traits=frozenset({Trait.TENSOR_TEST}))

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._judged: set[cst.CSTNode] = set()

    def visit_If(self, node: cst.If) -> None:
        if only_raises(node):
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
        self._judged.update(parts_of_test(test))
        found = asked_tensor(self.value, test, is_kept=is_kept)
        if found is not None:
            self._say(found, word)

    def _leave_to_another_rule(self, test: cst.BaseExpression) -> None:
        self._judged.update(parts_of_test(test))

    def _say(self, node: cst.BaseExpression, word: str) -> None:
        self.report(node, f"`{word}` reads a tensor's value on the host, which capture refuses")


def _compares(case: cst.MatchCase) -> bool:
    """Return whether a case compares its subject by value, which asks the result for its truth."""
    pattern = case.pattern
    if isinstance(pattern, cst.MatchAs) and pattern.pattern is not None:
        pattern = pattern.pattern
    options = [pattern]
    if isinstance(pattern, cst.MatchOr):
        options = [element.pattern for element in pattern.patterns]
    return any(isinstance(option, cst.MatchValue) for option in options)
