"""A Python value that each call changes is baked into the graph.

`self.step += 1`, `self.position = self.position + n`, `self.flag = not self.flag` or a global
counter, where device work uses the value: as an operand, an index, an argument of a kernel, or in a
test that chooses what the device does. Also where the captured call returns it.

## Why capture cares

Python runs once, while the graph is captured. A replay launches the recorded kernels with the number
they had then, so the step, position or phase stands still. Nothing raises, and the first replay is
right.

Measured on an H200 with torch 2.11: `x * self.step`, `cache[self.position] = x` and an argument of a
Triton kernel capture, and the second replay is wrong; with a threshold, the replay that passes it.

## What to do instead

Count on the device: a buffer of one element that the graph updates in place
(`self.step.add_(1)`), used through `index_copy_`, `torch.where` or arithmetic. Or count outside the
region and copy the number into a static input before each replay.

A counter that device work never uses is not reported, nor one that the captured code itself sets
back, nor a test whether it is still at 0 or 1: after warm-up it never is.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import About, Effect, Mark, Rule, Trait, Triggers


class HostCounter(Rule):
    about = About(code="CL501", name="host-counter", effects=(Effect.STALE,), since="0.1")
    triggers = Triggers(traits=frozenset({Trait.CHANGING_VALUE}))

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._judge(node, node.target)

    def visit_Assign(self, node: cst.Assign) -> None:
        self._judge(node, node.targets[0].target)

    def _judge(self, node: cst.CSTNode, target: cst.BaseAssignTargetExpression) -> None:
        if self.mark(target) is Mark.COUNTER:
            name = cst.Module([]).code_for_node(target)
            self.report(node, f"`{name}` stands still in replays, and the result depends on it")
