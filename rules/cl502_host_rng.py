"""A random number drawn on the host is the same in every replay.

`random.random()`, `numpy.random.rand()`, `torch.rand([])` on the CPU and their kind, where device work
uses the number or a test on it chooses what the device does: layer drop, masking of spans, random
crops.

## Why capture cares

The number is drawn once, during capture. Its value, or the arm of the test that it chose, is then part
of the graph: every replay scales by the same number and drops the same layers. Random numbers drawn
on the device are not concerned, since a graph moves their offset with each replay.

Measured on an H200 with torch 2.11: all of these capture, and the second replay is wrong; a test on a
number drawn differs at the first replay for which eager draws the other side.

## What to do instead

Draw on the device and choose there: `torch.where(torch.rand((), device=x.device) < p, x, layer(x))`.
Or draw outside the region and copy the number into a static input before each replay. Layer drop of
whole layers saves work only without a graph.

What only training runs, such as layer drop under `if self.training`, is reported with `--scope all`.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import About, Effect, Mark, Rule, Trait, Triggers


class HostRng(Rule):
    about = About(code="CL502", name="host-rng", effects=(Effect.STALE,), since="0.1")
    triggers = Triggers(traits=frozenset({Trait.CHANGING_VALUE}))

    def visit_Call(self, node: cst.Call) -> None:
        if self.mark(node) is Mark.RANDOM:
            name = cst.Module([]).code_for_node(node.func)
            self.report(node, f"`{name}()` draws on the host once, for all replays")
