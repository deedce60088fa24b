"""An optimizer steps inside a captured region, and it or its learning rate is made for eager steps.

`step()` of an optimizer of the Adam family made without `capturable=True`; and, around the region, a
learning rate that is a Python number and is changed between replays.

## Why capture cares

Without `capturable=True` these optimizers count their steps on the host. torch checks for it and
raises in `step()` while a stream is capturing. A learning rate that is a Python number is baked into the
kernels: a scheduler changes the number, and each replay steps with the old one.

Measured on an H200 with torch 2.11: Adam refuses with `param_groups' capturable is False`, and
captures with `capturable=True` after a warm-up; SGD captures. That schedulers change a tensor in place
is known from source (`torch/optim/lr_scheduler.py`).

## What to do instead

Give the optimizer `capturable=True`. Give the learning rate as a tensor on the device, `lr=torch.tensor(1e-3,
device="cuda")`: schedulers then fill it in place, and replays see it.

An optimizer made with `**options`, or whose `capturable` is not a constant, is not reported.
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
    excludes,
    method_call,
    names,
)

_MARK = "@optimizer:"


class OptimizerNotCapturable(Rule):
    about = About(
        code="CL802",
        name="optimizer-not-capturable",
        effects=(Effect.REFUSES, Effect.STALE),
        since="0.1",
    )
    triggers = Triggers(names=names(["step"]))

    def visit_Call(self, node: cst.Call) -> None:
        called = method_call(node)
        if called is None or called[1] != "step":
            return
        name = self.value(called[0]).name
        if name.startswith(_MARK):
            text = f"`step()` of {name.removeprefix(_MARK)} without `capturable=True` is refused"
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
