"""A tensor that the first call computes from its input and keeps is that of a warm-up, or of no call.

`if self.reference is None: self.reference = x.mean(0)` in captured code, where `x` is an argument and
later work reads the attribute.

## Why capture cares

The block runs in the first call only. If that is a warm-up, what is kept comes from the inputs of the
warm-up, often zeros. If there was no warm-up, the block runs during capture: its kernels are part of the
graph, so every replay computes the attribute anew from the input of that replay, where eager would
keep the first one.

Measured on an H200 with torch 2.11: without warm-up, replays follow each new input; after warm-up
on real inputs they equal eager.

## What to do instead

Make it before capture, from a real input: a method that is called once, outside the region, and
copies into a buffer. Warm up with that input.

A table or mask that depends on sizes, types or devices alone is not reported: warm-up makes it, and
any call would have made the same. Capture without a warm-up is refused, or fails, for that and other
reasons.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import About, Effect, Mark, Rule, Trait, Triggers


class LazyInit(Rule):
    about = About(code="CL504", name="lazy-init", effects=(Effect.STALE,), since="0.1")
    triggers = Triggers(traits=frozenset({Trait.FIRST_CALL}))

    def visit_If(self, node: cst.If) -> None:
        if self.mark(node.test) is Mark.FIRST_VALUE:
            self.report(node.test, "what is kept here comes from the input of the first call")
