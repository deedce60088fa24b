"""Seeding, forking or carrying random generators inside the region is refused, or freezes numbers.

`torch.manual_seed(s)`, `torch.random.fork_rng()`, `torch.cuda.set_rng_state(state)`, and
`generator=g` with a generator of one's own on the device.

## Why capture cares

While a graph is captured, the default generator hands out offsets that each replay moves on. A new
seed is refused ("set_current_seed can be called during stream capture only if ..."), and so is a
generator that the graph does not know ("Attempt to increase offset for a CUDA generator not in capture
mode"). Setting the state back, as `fork_rng` does when it ends, is allowed, but then nothing moves the
offset any more: every replay draws the same numbers.

Measured on an H200 with torch 2.11: a new seed and an unknown generator refuse at their line;
`fork_rng` captures, and the second replay is wrong. `get_rng_state` is harmless.

## What to do instead

Seed before the region. Register a generator of your own with
`graph.register_generator_state(generator)` before capture; that this was done is not seen here, so
accept the finding with a comment. For numbers that repeat, draw them once, outside, into a buffer.

In code of which nothing says that it is captured (`--scope all`) a generator is not reported: who
captures it may register it.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import About, Effect, Rule, Trait, Triggers, argument, names

_SEEDS = names(["manual_seed manual_seed_all seed seed_all"])
_STATES = names(["set_rng_state set_rng_state_all"])


class RngControl(Rule):
    about = About(
        code="CL503", name="rng-control", effects=(Effect.REFUSES, Effect.STALE), since="0.1"
    )
    triggers = Triggers(
        names=_SEEDS | _STATES | names(["fork_rng"]), traits=frozenset({Trait.OWN_GENERATOR})
    )

    def visit_Call(self, node: cst.Call) -> None:
        self._judge_generator(node)
        name = self.full_name(node.func)
        if not name.startswith("torch."):
            return
        last = name.rpartition(".")[2]
        if last in _SEEDS:
            self.report(node, f"`{last}()` is refused during capture", effects=(Effect.REFUSES,))
        elif last == "fork_rng" and not self._spares_device(node):
            self.report(node, "`fork_rng()` makes replays repeat numbers", effects=(Effect.STALE,))
        elif last in _STATES and name.startswith("torch.cuda."):
            self.report(node, f"`{last}()` makes replays repeat numbers", effects=(Effect.STALE,))

    def _judge_generator(self, node: cst.Call) -> None:
        given = argument(node, "generator")
        if not self.subject.captured:
            return  # Who captures it may register the generator.
        if given is None or self.value(given).name != "torch.Generator":
            return
        if self.value(node).is_device_tensor:
            self.report(
                node, "a graph refuses a generator that it does not know", effects=(Effect.REFUSES,)
            )

    def _spares_device(self, node: cst.Call) -> bool:
        """Return whether a call of `fork_rng` keeps only the state of the CPU, or nothing."""
        devices, enabled = argument(node, "devices", 0), argument(node, "enabled", 1)
        if enabled is not None and self.value(enabled).constant == (False,):
            return True
        return devices is not None and self.value(devices).items == ()
