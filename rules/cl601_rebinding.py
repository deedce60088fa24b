"""A new tensor put in an attribute is not there in the next replay.

`self.state = self.state * 0.9 + x.mean(0)` or `self.front, self.back = self.back, self.front` in
captured code, where the next call reads the attribute.

## Why capture cares

The graph holds addresses. It reads the tensor that the attribute held before the captured call, and
writes another one; putting that one in the attribute is Python, which replays do not run. Each replay
starts from the old tensor again, so the state never moves. Nothing raises, and the first replay is
right.

Measured on an H200 with torch 2.11: `self.acc = self.acc * 0.9 + x.mean(0)` captures, and the second
replay is wrong; `self.acc.mul_(0.9).add_(x.mean(0))` replays what eager computes.

## What to do instead

Keep the tensor and change what is in it: `self.state.copy_(new)`, `self.state.mul_(0.9).add_(x)`. To
swap two buffers, capture two graphs, or copy.

A tuple or list of tensors, such as the state of an LSTM, is kept in the same way.

An attribute that each call sets before it reads it, that is only looked at from outside, or that the
captured code clears again, is not reported. `self.weight.data = w`, `self.weight.set_(w)` and
`self.cache["k"] = k` are stale in the same way (measured for `.data`) and are followed where the holder is
an attribute of `self` and a key is a constant; parameters of other modules are not, and `capturelint
bisect` sees them.

With `--scope all`, `self.table = self.table.to(x.device)` is reported too. It moves the table in the
first call, if at all: a capture without a warm-up is refused for the copy from the host. Register a
buffer, which moves with the module, and use it as it is.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import About, Effect, Mark, Rule, Trait, Triggers, method_call


class Rebinding(Rule):
    about = About(
        code="CL601", name="rebinding", effects=(Effect.STALE, Effect.REFUSES), since="0.1"
    )
    triggers = Triggers(traits=frozenset({Trait.TENSOR_KEPT}))

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self._judge(node, node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        self._judge(node, node)

    def visit_Call(self, node: cst.Call) -> None:
        called = method_call(node)
        if called is not None and called[1] == "set_":
            self._judge(node, called[0])

    def _judge(self, node: cst.CSTNode, bound: cst.BaseExpression) -> None:
        if self.mark(node) is Mark.REBOUND:
            name = cst.Module([]).code_for_node(bound)
            self.report(node, f"replays do not rebind `{name}`, and the next call reads it")
        elif self.mark(node) is Mark.MOVED and self.subject.captured:
            name = cst.Module([]).code_for_node(bound)
            text = f"`{name}` is moved unless it is there already, and capture refuses the move"
            self.report(node, text, effects=(Effect.REFUSES,))
