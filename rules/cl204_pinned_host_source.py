"""A graph reads pinned host memory again at each replay, whatever is in it by then.

`torch.tensor(values).pin_memory().to(device, non_blocking=True)` in captured code, or a pinned buffer
that captured code writes (`self.staging[:n] = ...`) before it copies it to the device.

## Why capture cares

A copy from pinned memory can be captured. What is recorded is the address, not what was there: each
replay copies what it finds. What Python writes into a pinned buffer inside the region is written
once, during capture. A pinned tensor made in the call goes back to the allocator when the call ends,
so replays read memory that something else has taken since. Nothing raises.

From torch 2.11 on the graph keeps what is pinned during capture
(https://github.com/pytorch/pytorch/pull/167507), so that a temporary that is the same in each call
replays right; `--target-torch 2.11` leaves it out.

Measured on an H200 with torch 2.11: a pinned buffer that captured code writes differently in each
call is wrong at the second replay. One that is made once and not changed inside the region replays
right, and so does a pinned temporary, which earlier releases were not run with.

## What to do instead

Keep one pinned buffer for as long as the graph lives, and fill it outside the region, before each
replay. Or copy to the device outside, into a static input. For a constant, keep it on the device.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import About, Effect, Mark, Rule, Trait, Triggers, operations_of

(_TEMPORARY,) = (row for row in operations_of("CL204") if row.form == "a pinned temporary")


class PinnedHostSource(Rule):
    about = About(code="CL204", name="pinned-host-source", effects=(Effect.STALE,), since="0.1")
    triggers = Triggers(traits=frozenset({Trait.CHANGING_VALUE}))

    def visit_Call(self, node: cst.Call) -> None:
        if self.mark(node) is Mark.PINNED and _TEMPORARY.holds_for(self.subject.target):
            self.report(node, "replays read this pinned memory after the call has given it back")

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._judge_write(node.target)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self._judge_write(node.target)

    def visit_Expr(self, node: cst.Expr) -> None:
        if isinstance(node.value, cst.Call) and isinstance(node.value.func, cst.Attribute):
            self._judge_write(node.value.func.value)

    def _judge_write(self, target: cst.CSTNode) -> None:
        if self.mark(target) is Mark.WRITTEN:
            name = cst.Module([]).code_for_node(target)
            self.report(target, f"replays copy from `{name}`, but do not write it again")
