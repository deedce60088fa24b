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
holds that tensor. The graph may be kept in an attribute, or by size in `self.graphs[n]` if all in it
come from this region. Where something is called before the replay that captures anew, nothing is said.
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

_FORM = frozenset(
    f"method:{word}" for word in "size dim numel stride get_device is_contiguous".split()
)
# What may give the tensor itself, or a part of its memory.
_COPIES = frozenset("to cuda contiguous type float half bfloat16 double long int bool".split())
_VIEWS = frozenset("detach view reshape expand flatten squeeze unsqueeze narrow view_as".split())


class UntouchedStaticInput(Rule):
    about = About(code="CL904", name="untouched-static-input", effects=(Effect.STALE,), since="0.1")
    triggers = Triggers(names=names(["graph capture_begin"]))

    def judge_site(self, site: Site) -> None:
        for region in site.regions:
            for about, read in site.inputs(region).items():
                if not _is_data_read(site, region, about):
                    continue
                for step in self._rebound(site, region, about):
                    if _is_tensor(read) or _is_tensor_but_for(site, about, step):
                        text = f"`{about}` is bound anew: the graph goes on reading the old tensor"
                        self.report_at(step.span, text)

    def _rebound(self, site: Site, region: Region, about: str) -> list[Step]:
        """Return the steps that give an input's name to something else and are then replayed."""
        if "[" in about or about != root_of(about) or _is_held_elsewhere(site, about):
            return []
        found = []
        holders, captures = site.holders(region), _callers_of(site, region)
        for place, step in enumerate(site.steps):
            if step.deed is not Deed.BIND or step.about != about or step.region is not None:
                continue
            if step.how == "deleted" or step.how.endswith("_") or _is_same_memory(step):
                continue
            is_later = place >= region.last and not excludes(region.blocks, step.blocks)
            is_other_method = about.startswith("self.") and _method(step) != _method_of(region)
            if is_other_method and _method(step).startswith("__init__"):
                continue
            if (is_later or is_other_method) and _is_replayed_next(site, place, holders, captures):
                found.append(step)
        return found


def _is_replayed_next(
    site: Site, place: int, holders: frozenset[str], captures: frozenset[str]
) -> bool:
    """Return whether the graph is replayed after a step, before anything is captured again.

    `holders`: where the graph is kept. `captures`: the methods that come to its capture.
    """
    bound, names = site.steps[place], holders
    for later in site.steps[place + 1 :]:
        if later.function != bound.function:
            return False
        if later.region is not None or later.deed is Deed.LEAVE:
            return False
        if later.deed is Deed.CALL and later.about in captures:
            return False
        if later.deed is Deed.BIND and later.how == "alias" and later.names[-1] in names:
            names |= {later.about}
        elif later.deed is Deed.BIND and (later.about == bound.about or later.about in names):
            return False
        if later.deed is Deed.REPLAY:
            return later.about in names and always_after(later.blocks, bound.blocks)
    return False


def _callers_of(site: Site, region: Region) -> frozenset[str]:
    """Return the methods, as `self.name`, that capture a region or call one that does."""
    found: set[str] = set()
    new = {f"self.{_method_of(region)}"}
    while new:
        found |= new
        calls = (step for step in site.steps if step.deed is Deed.CALL and step.about in found)
        new = {f"self.{_method(step)}" for step in calls} - found
    return frozenset(found)


def _is_tensor(step: Step) -> bool:
    return step.value.is_device_tensor and not step.value.weak


def _is_tensor_but_for(site: Site, about: str, new: Step) -> bool:
    """Return whether an attribute holds a tensor, whatever a step gives it of which nothing is known."""
    is_plain = new.how == "alias" or new.how.removeprefix("method:") in _COPIES
    others = [s for s in site.steps if s.deed is Deed.BIND and s.about == about and s != new]
    is_left_open = new.value.is_unknown and is_plain and about.startswith("self.")
    return is_left_open and bool(others) and all(map(_is_tensor, others))


def _is_same_memory(step: Step) -> bool:
    """Return whether a name is given what may still be its own tensor: `x = x.contiguous()`."""
    method = step.how.removeprefix("method:")
    return method in (*_COPIES, *_VIEWS) and f"{step.about}.{method}" in step.names


def _is_data_read(site: Site, region: Region, about: str) -> bool:
    """Return whether a region reads more of a tensor than its form, which replays do not ask for."""
    return any(
        step.deed is Deed.READ and step.about == about and step.how not in _FORM
        for step in site.steps[region.first : region.last]
    )


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
