"""What a call appends to a list or tensor of the module, replays do not append.

`self.history.append(y)` or `self.keys = torch.cat([self.keys, k])` in captured code, where the next
call reads what was collected.

## Why capture cares

A replay runs kernels, no Python: the list keeps the length it had after capture, and what it holds is
memory of the graph that each replay overwrites. A tensor that is made longer by `torch.cat` is the
same: the graph joins the old tensor of the captured call to the new rows, again and again.

Measured on an H200 with torch 2.11: `self.history.append(x.mean())` with
`torch.stack(self.history)`, and a cache grown by `torch.cat`, capture, and the second replay is wrong.

## What to do instead

Make the buffer as long as it can get in `__init__`, and write into it at a position that is a tensor
on the device: `self.keys.index_copy_(1, position, k)`. Collect outputs outside the region, and copy
them: `outputs.append(static_output.clone())`.

A list that the captured code empties in each call, or that only other code reads, is not reported.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import About, Effect, Mark, Rule, Trait, Triggers


class HostGrowth(Rule):
    about = About(code="CL505", name="host-growth", effects=(Effect.STALE,), since="0.1")
    triggers = Triggers(traits=frozenset({Trait.TENSOR_KEPT}))

    def visit_Call(self, node: cst.Call) -> None:
        if self.mark(node) is Mark.GROWN:
            name = cst.Module([]).code_for_node(node.func)
            self.report(
                node, f"`{name}()` does not run in replays, and the next call reads the list"
            )

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        if self.mark(node.target) is Mark.GROWN:
            name = cst.Module([]).code_for_node(node.target)
            self.report(
                node.target, f"replays do not make `{name}` longer, and the next call reads it"
            )
