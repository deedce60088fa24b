"""An output of a graph that is kept without a copy is overwritten by the next replay.

`outputs.append(static_output)` or `results[i] = static_output` in a loop that replays the graph.

## Why capture cares

The tensors that a captured region made are static: each replay writes the same memory again. A list of
them holds one tensor many times, and after the loop every entry shows the last result. Nothing raises.

The notes on CUDA semantics of torch say that a replay writes its results to the same addresses every
time. On an H200 with torch 2.11, even another graph of the same pool, when it was replayed, overwrote
an output that was still in use.

## What to do instead

Copy before the next replay: `outputs.append(static_output.clone())`, or `buffer[i].copy_(static_output)`
into memory made outside the region. A copy on the device is enough and does not wait.

An output that is only passed on or returned is not reported, since it may be used up before the next
replay.
"""

from __future__ import annotations

from capturelint.rule import (
    About,
    Block,
    Deed,
    Effect,
    Inside,
    Kind,
    Region,
    Rule,
    Site,
    Step,
    Triggers,
    excludes,
    names,
)

_FILLS = names("append appendleft extend insert add setdefault".split())
_EMPTIES = names("clear pop popleft popitem remove".split())


class RetainedOutput(Rule):
    about = About(code="CL603", name="retained-output", effects=(Effect.STALE,), since="0.1")
    triggers = Triggers(names=names(["graph capture_begin"]))

    def judge_site(self, site: Site) -> None:
        for region in site.regions:
            outputs = {
                about
                for about, step in site.outputs(region).items()
                if "[" not in about and step.value.kind not in (Kind.HOST_VALUE, Kind.SHAPE)
            }
            for place in range(region.last, len(site.steps)):
                step = site.steps[place]
                if step.deed is Deed.BIND:
                    # From here on the name may stand for a copy.
                    outputs.discard(step.about)
                elif step.deed is Deed.READ and _whole(step.about) in outputs:
                    self._judge(site, region, place)

    def _judge(self, site: Site, region: Region, place: int) -> None:
        step = site.steps[place]
        holder = _holder(site, place)
        if not holder or step.region is not None or excludes(region.blocks, step.blocks):
            return
        around = {block.number for block in region.blocks}
        loops = [block for block in step.within(Inside.LOOP) if block.number not in around]
        if any(_keeps(site, region, loop, holder) for loop in loops):
            text = f"`{step.about}` is kept without a copy, and the next replay overwrites it"
            self.report_at(step.span, text)


def _whole(about: str) -> str:
    """Return the name of which a text is the whole or an item; an attribute of it is its own name."""
    return about.partition("[")[0]


def _holder(site: Site, place: int) -> str:
    """Return the list or mapping that a read puts an output in, or ""."""
    step = site.steps[place]
    if step.how.startswith("argument:"):
        holder, _, method = step.how.partition(":")[2].rpartition(".")
        return holder if method in _FILLS else ""
    if step.how != "put":
        return ""
    written = next((one for one in site.steps[place:] if one.deed is Deed.WRITE), None)
    return written.about if written is not None and _is_mapping(site, written) else ""


def _is_mapping(site: Site, written: Step) -> bool:
    """Return whether what an item is stored in was made as a list or dict, and is no tensor."""
    made = [one for one in site.steps if one.deed is Deed.BIND and one.about == written.about]
    return bool(made) and all(one.value.kind is Kind.HOST_VALUE for one in made)


def _keeps(site: Site, region: Region, loop: Block, holder: str) -> bool:
    """Return whether a loop replays the graph, and what it fills is filled on in its next turn."""
    is_replayed = False
    for step in site.steps:
        if all(block.number != loop.number for block in step.blocks):
            continue
        if step.deed is Deed.REPLAY and step.about == region.graph:
            is_replayed = True
        elif step.about == holder and (
            step.deed is Deed.BIND or step.how.removeprefix("method:") in _EMPTIES
        ):
            return False
    return is_replayed
