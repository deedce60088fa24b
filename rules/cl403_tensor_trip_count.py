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

import libcst as cst

from capturelint.rule import About, Effect, Rule, Trait, Triggers, asked_tensor, names


class TensorTripCount(Rule):
    about = About(
        code="CL403", name="tensor-trip-count", effects=(Effect.REFUSES,), since="0.1", waits=True
    )
    triggers = Triggers(names=names(["range(tensor)"]), traits=frozenset({Trait.TENSOR_TEST}))

    def visit_While(self, node: cst.While) -> None:
        found = asked_tensor(self.value, node.test)
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
