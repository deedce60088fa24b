"""An optimizer steps inside a captured region, and it or its learning rate is made for eager steps.

`step()` of an optimizer of the Adam family made without `capturable=True`; `step()` of a `GradScaler`
with an optimizer made without `fused=True`, and its `get_scale()`; and, around the region, a
learning rate that is a Python number and is changed between replays.

## Why capture cares

Without `capturable=True` these optimizers count their steps on the host. torch checks for it and
raises in `step()` while a stream is capturing. A learning rate that is a Python number is baked into the
kernels: a scheduler changes the number, and each replay steps with the old one.

Measured on an H200 with torch 2.11: Adam refuses with `param_groups' capturable is False`, and
captures with `capturable=True` after a warm-up; SGD captures. That schedulers change a tensor in place
is known from source (`torch/optim/lr_scheduler.py`), and so is what is said of `GradScaler`
(`torch/amp/grad_scaler.py`): unless the optimizer takes over the scaling, which the fused ones do, its
`step()` reads on the host (`.item()`) whether a gradient is infinite. `scale()`, `unscale_()` and
`update()` stay on the device.

## What to do instead

Give the optimizer `capturable=True`, and `fused=True` if a `GradScaler` steps it. Give the learning rate as a tensor on the device, `lr=torch.tensor(1e-3,
device="cuda")`: schedulers then fill it in place, and replays see it.

An optimizer made with `**options`, or whose `capturable` or `fused` is not a constant, is not reported;
nor is a scaler whose `enabled` is not.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import (
    About,
    Deed,
    Effect,
    Region,
    Rule,
    Site,
    Step,
    Triggers,
    argument,
    excludes,
    method_call,
    names,
)

_MARK = "@optimizer:"
_UNFUSED = "@unfused:"


class OptimizerNotCapturable(Rule):
    about = About(
        code="CL802",
        name="optimizer-not-capturable",
        effects=(Effect.REFUSES, Effect.STALE),
        since="0.1",
    )
    triggers = Triggers(names=names(["step get_scale"]))

    def visit_Call(self, node: cst.Call) -> None:
        called = method_call(node)
        if called is None or called[1] not in ("step", "get_scale"):
            return
        name = self.value(called[0]).name
        if name == "@scaler":
            self._judge_scaler(node, called[1])
        elif name.startswith(_MARK) and called[1] == "step":
            text = f"`step()` of {name.removeprefix(_MARK)} without `capturable=True` is refused"
            self.report(node, text, effects=(Effect.REFUSES,))

    def _judge_scaler(self, node: cst.Call, method: str) -> None:
        """Report what a scaler reads; a fused optimizer looks on the device whether to step."""
        stepped = argument(node, "optimizer", 0) if method == "step" else None
        if stepped is not None and self.value(stepped).name.startswith((_MARK, _UNFUSED)):
            text = "`GradScaler.step()` reads on the host if it may step an optimizer that is not fused"
            self.report(node, text, effects=(Effect.REFUSES,))
        elif method == "get_scale":
            text = "`GradScaler.get_scale()` reads the scale on the host during capture"
            self.report(node, text, effects=(Effect.REFUSES,))

    def judge_site(self, site: Site) -> None:
        for region in site.regions:
            inside = site.steps[region.first : region.last]
            stepped = {s.about.removesuffix(".step") for s in inside if _is_step(s)}
            made = {s.about: s for s in site.steps if s.deed is Deed.BIND and s.about in stepped}
            plain = {about for about, step in made.items() if _has_number(step)}
            schedulers = {
                s.about
                for s in site.steps
                if s.deed is Deed.BIND
                and "lr_scheduler" in s.name
                and not plain.isdisjoint(s.names)
            }
            change = self._change(site, region, schedulers)
            if change is not None:
                text = f"`{change.about}()` changes a number that the captured step has kept"
                self.report_at(change.span, text, effects=(Effect.STALE,))

    def _change(self, site: Site, region: Region, schedulers: set[str]) -> Step | None:
        """Return a step of a scheduler in the loop that replays."""
        for step in site.steps[region.last :]:
            if excludes(region.blocks, step.blocks) or step.region is not None:
                continue
            if _is_step(step) and step.about.removesuffix(".step") in schedulers:
                return step
        return None


def _is_step(step: Step) -> bool:
    return step.deed is Deed.CALL and step.about.endswith(".step")


def _has_number(step: Step) -> bool:
    """Return whether an optimizer of torch is made with a learning rate that is a number."""
    rate = dict(step.keywords).get("lr")
    return step.name.startswith("torch.optim.") and isinstance(rate, float | int)
