"""A graph reads the memory that its input had at capture: a new tensor under the same name is not seen.

The name or attribute that a captured region reads is bound to something new, and then the graph is
replayed.

## Why capture cares

A graph knows addresses, not names. `static_input = batch` leaves the captured tensor as it was, each
replay computes with the old values, and nothing is raised. Once nobody holds the old tensor its memory
may be reused, and the replay reads whatever is there.

That replays read captured addresses is stated in the notes on CUDA semantics of torch; the H200
measurements of stale attributes (22 modules, all equal at their first replay) show the same.

## What to do instead

Copy into the captured tensor: `static_input.copy_(batch)`, or `static_input[:n] = batch` and say what
the other rows are.

Only a name that is known to hold a tensor inside the region is reported, and only where nothing else
holds that tensor.
"""

from __future__ import annotations

from capturelint.rule import (
    About,
    Deed,
    Effect,
    Inside,
    Region,
    Rule,
    Site,
    Step,
    Triggers,
    always_after,
    excludes,
    names,
    root_of,
)


class UntouchedStaticInput(Rule):
    about = About(code="CL904", name="untouched-static-input", effects=(Effect.STALE,), since="0.1")
    triggers = Triggers(names=names(["graph capture_begin"]))

    def judge_site(self, site: Site) -> None:
        for region in site.regions:
            for about, read in site.inputs(region).items():
                if read.value.is_device_tensor and not read.value.weak:
                    for step in self._rebound(site, region, about):
                        text = f"`{about}` is bound anew: the graph goes on reading the old tensor"
                        self.report_at(step.span, text)

    def _rebound(self, site: Site, region: Region, about: str) -> list[Step]:
        """Return the steps that give an input's name to something else and are then replayed."""
        if "[" in about or about != root_of(about) or _is_held_elsewhere(site, about):
            return []
        found = []
        for place, step in enumerate(site.steps):
            if step.deed is not Deed.BIND or step.about != about or step.region is not None:
                continue
            if step.how == "deleted" or step.how.endswith("_"):
                continue
            is_later = place >= region.last and not excludes(region.blocks, step.blocks)
            is_other_method = about.startswith("self.") and _method(step) != _method_of(region)
            if is_other_method and _method(step).startswith("__init__"):
                continue
            if (is_later or is_other_method) and _is_replayed_next(site, place, step, region):
                found.append(step)
        return found


def _is_replayed_next(site: Site, place: int, bound: Step, region: Region) -> bool:
    """Return whether the graph is replayed after a step, before anything is captured again."""
    for later in site.steps[place + 1 :]:
        if later.function != bound.function:
            return False
        if later.region is not None or later.deed is Deed.LEAVE:
            return False
        if later.deed is Deed.BIND and later.about in (bound.about, region.graph):
            return False
        if later.deed is Deed.REPLAY:
            same = later.about == region.graph
            return same and always_after(later.blocks, bound.blocks)
    return False


def _is_held_elsewhere(site: Site, about: str) -> bool:
    """Return whether the tensor has another name, by which it may be filled."""
    return any(
        step.deed is Deed.READ and step.about == about and step.how in ("stored", "put", "returned")
        for step in site.steps
    )


def _method(step: Step) -> str:
    return next(step.within(Inside.FUNCTION)).name


def _method_of(region: Region) -> str:
    return next(block.name for block in region.blocks if block.inside is Inside.FUNCTION)
