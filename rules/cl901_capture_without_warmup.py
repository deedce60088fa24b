"""Work that a region captures has to have run before: its first run does what capture refuses.

A module made in the same function, called for the first time inside the captured region; a collective
of `torch.distributed` that the function has not called before its capture.

## Why capture cares

The first call of a matrix product, convolution or transform makes a library handle, compiled functions
compile, optimizers make their state, NCCL sets up its communicators. Most of it is refused while a
stream is capturing, with the misleading text of the library (`NOT_INITIALIZED`, `ALLOCATION_FAILED`).
What is not refused is worse: state made inside the graph is made again by each replay.

Measured on an H200 with torch 2.11: of 163 modules that replay well after a warm-up, 34 refuse without
one in the mode `global` (cuBLAS 21, cuSOLVER 5, cuDNN 4). A first NCCL collective inside a capture
refuses, and captures after three calls before.

## What to do instead

Call the work a few times before, on a side stream: `side.wait_stream(torch.cuda.current_stream())`,
`with torch.cuda.stream(side):` for three calls, `torch.cuda.current_stream().wait_stream(side)`. With
DistributedDataParallel eleven calls are needed, says the documentation of torch.

A module that came from elsewhere may have been called there, and one that was given to any function
may have been called by it: neither is reported. Nor is a capture in the mode `relaxed`.
"""

from __future__ import annotations

from capturelint.rule import (
    About,
    Deed,
    Effect,
    Kind,
    Region,
    Rule,
    Site,
    Step,
    Triggers,
    names,
    root_of,
)

_COLLECTIVES = names(
    "all_reduce all_gather all_gather_into_tensor reduce_scatter reduce_scatter_tensor broadcast "
    "all_to_all all_to_all_single reduce".split()
)
# Layers that call a library which has to be set up.
_LIBRARY = names("Linear Bilinear Conv1d Conv2d Conv3d LSTM GRU RNN MultiheadAttention".split())


class CaptureWithoutWarmup(Rule):
    about = About(
        code="CL901", name="capture-without-warmup", effects=(Effect.REFUSES,), since="0.1"
    )
    triggers = Triggers(names=names(["graph capture_begin"]))

    def judge_site(self, site: Site) -> None:
        for region in site.regions:
            if dict(region.keywords).get("capture_error_mode") == "relaxed":
                continue
            for step in site.steps[region.first : region.last]:
                if step.deed is Deed.CALL and self._is_first(site, region, step):
                    text = f"`{step.about}()` is called first inside the captured region"
                    self.report_at(step.span, text)
                    break

    def _is_first(self, site: Site, region: Region, step: Step) -> bool:
        before = [
            s
            for s in site.steps[: region.first]
            if s.function == step.function and s.region is None
        ]
        if step.name.startswith("torch.distributed."):
            word = step.name.rpartition(".")[2]
            sets_up = any(s.name.endswith("init_process_group") for s in before)
            return word in _COLLECTIVES and sets_up and not _calls_collective_or_project(before)
        made = [s for s in before if s.deed is Deed.BIND and s.about == step.about]
        if len(made) != 1 or not step.about.isidentifier() or not _needs_library(made[0]):
            return False
        return not any(_may_call(s, step.about) for s in before if s is not made[0])


def _needs_library(step: Step) -> bool:
    """Return whether a name is bound to a new layer, or layers, whose first call sets up a library."""
    if step.value.kind is not Kind.MODULE:
        return False
    made = step.value.name
    is_made_here = any(name.endswith("." + made.rpartition(".")[2]) for name in step.names)
    if not made.startswith("torch.nn.") or not is_made_here or step.value.refs:
        return False
    held = step.value.element
    inner = "" if held is None else held.name
    return made.rpartition(".")[2] in _LIBRARY or inner.rpartition(".")[2] in {
        *_LIBRARY,
        "of_several",
    }


def _may_call(step: Step, about: str) -> bool:
    """Return whether a step calls a module, or gives it away to be called."""
    if step.deed is Deed.CALL and root_of(step.about) == about:
        return step.about.removeprefix(about) in ("", ".forward", ".__call__")
    if step.deed is Deed.READ and root_of(step.about) == about:
        return not step.how.startswith("method:") and step.how != "test" and step.about == about
    return step.deed is Deed.GRAPHED


def _calls_collective_or_project(steps: list[Step]) -> bool:
    """Return whether anything before may have run a collective."""
    for step in steps:
        if step.deed is Deed.CALL:
            is_known = step.name.startswith(("torch.cuda.", "builtins.", "os."))
            is_known = is_known or step.name.endswith(("init_process_group", "get_rank"))
            is_factory = step.name.rpartition(".")[2] in ("zeros", "ones", "empty", "randn", "rand")
            if not (is_known or is_factory):
                return True
    return False
