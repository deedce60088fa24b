"""What a captured region computes exists only after a replay: capturing runs nothing.

The output of a captured region read before any `replay()`, and a graph that is captured and never
replayed.

## Why capture cares

While a stream is capturing, kernels are recorded and not run. The tensors that the region made have
memory by then, but nothing has been written to it: whoever reads them gets what was there before, and
no error. Often the first call captures and the later ones replay, so that the first result alone is
wrong; then the capture is reported, as the place where a replay is missing.

That capturing runs nothing is stated in the notes on CUDA semantics of torch. On an H200 with torch
2.11, eager code that read what a capture without a replay had left behind got zeros.

## What to do instead

Call `graph.replay()` after the capture and before the first read, also in the branch that captures:
the first call then captures and replays.

Shapes, types and addresses of outputs are known without a replay and may be read. An output that is
only returned or kept by the code that captured it is not reported, since its caller may know that it
is empty. A graph that is returned, stored or given away may be replayed elsewhere. A capture that may
fail, in a `try` that goes on after an exception or in `with pytest.raises(...)`, need not be replayed.
"""

from __future__ import annotations

from capturelint.rule import (
    About,
    Block,
    Deed,
    Effect,
    Inside,
    Region,
    Rule,
    Site,
    Step,
    Triggers,
    excludes,
    names,
    root_of,
)

# Methods that tell a tensor's values, or compute with them.
_READS = names(
    "item tolist cpu numpy argmax argmin max min sum mean any all topk sort softmax norm abs".split()
)
_METADATA = names(
    "shape dtype device ndim is_cuda requires_grad grad_fn grad itemsize nbytes layout".split()
)
# What a graph is used for without it being replayed or given away.
_HARMLESS = names("reset pool enable_debug_mode debug_dump capture_begin capture_end".split())
# Contexts that expect what they hold to raise, by their last names.
_EXPECTING = names(["raises assertRaises assertRaisesRegex suppress"])
_CAPTURES = ("argument:torch.cuda.graph", "argument:torch.cuda.graphs.graph")


class ReadBeforeReplay(Rule):
    about = About(code="CL902", name="read-before-replay", effects=(Effect.STALE,), since="0.1")
    triggers = Triggers(names=names(["graph capture_begin"]))

    def judge_site(self, site: Site) -> None:
        for region in site.regions:
            read = self._first_read(site, region)
            if read is not None and _leaves_branch(region, read):
                # Where the branches meet again, what is missing is a replay in the one that captures.
                text = f"`{read.about}` is read further down, and nothing replays here"
                self.report_at(region.span, text)
            elif read is not None:
                text = f"`{read.about}` is read before a replay: capturing has not computed it"
                self.report_at(read.span, text)
            elif self._is_never_replayed(site, region):
                text = f"`{region.graph}` is captured and never replayed: nothing of it runs"
                self.report_at(region.span, text)

    def _first_read(self, site: Site, region: Region) -> Step | None:
        """Return the first step that needs the values of an output before they are there."""
        outputs = {about for about in site.outputs(region) if "[" not in about}
        home = _function(region)
        is_other_replayed = False
        for step in site.steps[region.last :]:
            if step.function != home or not outputs:
                continue
            if excludes(region.blocks, step.blocks):
                is_other_replayed = is_other_replayed or step.deed is Deed.REPLAY
                continue
            if step.region is not None or self._may_replay(step, region):
                return None
            is_joined = is_other_replayed and _leaves_branch(region, step)
            if step.deed is Deed.READ and root_of(step.about) in outputs:
                if _needs_values(step, is_joined=is_joined):
                    return step
            elif step.deed is Deed.BIND:
                outputs.discard(step.about)
                if step.how == "alias" and root_of(step.names[-1]) in outputs:
                    outputs.add(step.about)
        return None

    def _may_replay(self, step: Step, region: Region) -> bool:
        """Return whether a step replays, or gives the graph to something that may."""
        if step.deed in (Deed.REPLAY, Deed.GRAPHED, Deed.LEAVE):
            return True
        if step.deed is not Deed.CALL:
            return False
        is_own_method = step.about.startswith("self.") and step.about.count(".") == 1
        return is_own_method or region.graph in step.names

    def _is_never_replayed(self, site: Site, region: Region) -> bool:
        graph = region.graph
        if any(map(_expects_failure, region.blocks)):
            return False
        if not graph.isidentifier() or not _is_made_here(site, region):
            return False
        for step in site.steps:
            if step.function != _function(region):
                # A function inside this one may use it.
                if root_of(step.about) == graph or graph in step.names:
                    return False
            elif step.deed is Deed.REPLAY and (not step.about or root_of(step.about) == graph):
                return False
            elif step.deed is Deed.READ and root_of(step.about) == graph:
                method = step.how.removeprefix("method:")
                if step.how not in _CAPTURES and method not in _HARMLESS:
                    return False
        return True


def _expects_failure(block: Block) -> bool:
    """Return whether a block goes on where what it holds raises, as tests of a capture do."""
    if block.inside is Inside.ATTEMPT:
        return True
    return block.inside is Inside.CONTEXT and block.name.rpartition(".")[2] in _EXPECTING


def _leaves_branch(region: Region, step: Step) -> bool:
    """Return whether a step stands behind the branch that captures."""
    return any(
        block.inside is Inside.BRANCH and block not in step.blocks for block in region.blocks
    )


def _function(region: Region) -> object:
    """Return the block of the function that captures."""
    return [block for block in region.blocks if block.inside.name == "FUNCTION"][-1]


def _is_made_here(site: Site, region: Region) -> bool:
    """Return whether the graph is a local name, made by this very function."""
    made = [s for s in site.steps if s.deed is Deed.BIND and s.about == region.graph]
    return bool(made) and all(
        step.name.endswith("CUDAGraph") and step.function == _function(region) for step in made
    )


def _needs_values(step: Step, *, is_joined: bool) -> bool:
    """Return whether reading a tensor takes its values. `is_joined`: as after a replay."""
    rest = step.about.removeprefix(root_of(step.about)).replace("[]", "").split(".")
    if not _METADATA.isdisjoint(rest):
        return False
    kind, _, word = step.how.partition(":")
    if kind in ("operand", "text", "copied"):
        return True
    if kind == "method":
        return word in _READS
    if kind == "argument":
        return word.startswith(("torch.", "builtins.print", "builtins.float", "builtins.int"))
    return is_joined and kind in ("returned", "test")
