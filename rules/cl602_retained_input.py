"""An argument kept for the next call is overwritten before that call reads it.

`self.previous = x` or `self.last = hidden.detach()` in captured code, where `x` is an argument and the
next call reads the attribute.

## Why capture cares

The inputs of a graph are static: the next step copies its values into the same memory. So an
attribute that holds an input does not hold the last one, but the one being worked on; and the graph
itself reads the tensor that was there when it was captured, which no replay ever changes.

Measured on an H200 with torch 2.11: `y = x + self.previous; self.previous = x` captures, the first
replays are right, and the third is wrong.

## What to do instead

Copy into a buffer of the module at the end of the call: `self.previous.copy_(x)`. The graph then
holds the copy, and each replay makes it.

An argument that is kept and only looked at from outside is not reported.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import About, Effect, Mark, Rule, Trait, Triggers


class RetainedInput(Rule):
    about = About(code="CL602", name="retained-input", effects=(Effect.STALE,), since="0.1")
    triggers = Triggers(traits=frozenset({Trait.TENSOR_KEPT}))

    def visit_Attribute(self, node: cst.Attribute) -> None:
        self._judge(node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        self._judge(node)

    def _judge(self, node: cst.Attribute | cst.Subscript) -> None:
        if self.mark(node) is Mark.RETAINED:
            name = cst.Module([]).code_for_node(node)
            self.report(node, f"`{name}` keeps an input, which the next call overwrites and reads")
