"""A time or a state of the machine that device work uses stays that of the capture.

`time.time()`, `time.perf_counter()`, `datetime.now()`, `torch.cuda.memory_allocated()` and the like,
where device work uses the number or a test on it chooses what the device does.

## Why capture cares

The clock is read once, during capture. The number, or the arm of the test that it chose, is then part
of the graph, and every replay uses it again. Nothing raises.

Measured on an H200 with torch 2.11: `x * (time.time() % 1)` captures, and its replays repeat one
number.

## What to do instead

Read the clock before the replay and copy it into a static input. Choose by free memory before the
region, and capture a graph for each choice.

Measuring how long something takes is not reported, since device work does not use it. An environment
variable is not reported either: it stays as it is while the process runs.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import About, Effect, Mark, Rule, Trait, Triggers


class HostClock(Rule):
    about = About(code="CL506", name="host-clock", effects=(Effect.STALE,), since="0.1")
    triggers = Triggers(traits=frozenset({Trait.CHANGING_VALUE}))

    def visit_Call(self, node: cst.Call) -> None:
        if self.mark(node) is Mark.CLOCK:
            name = cst.Module([]).code_for_node(node.func)
            self.report(node, f"`{name}()` is read once, for all replays")
