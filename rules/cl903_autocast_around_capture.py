"""An autocast cache that lives longer than a capture hands out weights that no replay casts again.

`torch.cuda.graph` inside `torch.autocast` where the same work also runs outside the region, or
`make_graphed_callables` inside `torch.autocast`, without `cache_enabled=False`.

## Why capture cares

Autocast remembers the casts of weights until its outermost context ends. A warm-up in the same context
fills the cache, so that the capture records no cast: replays read memory that is freed when the context
ends, and never see new weights. After a capture in the same context eager code gets casts that live in
the graph's memory and hold nothing before a replay. `make_graphed_callables` checks and raises.

Known from the source of torch (`aten/src/ATen/autocast_mode.cpp`, `torch/cuda/graphs.py`) and not run.
On an H200 with torch 2.11, autocast entered inside the region captures and replays well.

## What to do instead

Enter autocast inside the captured region, or give `cache_enabled=False`.

An autocast context that holds nothing but the captured region is not reported.
"""

from __future__ import annotations

from capturelint.rule import About, Block, Deed, Effect, Inside, Rule, Site, Step, Triggers, names

_CONTEXTS = ("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast")


class AutocastAroundCapture(Rule):
    about = About(
        code="CL903",
        name="autocast-around-capture",
        effects=(Effect.STALE, Effect.REFUSES),
        since="0.1",
    )
    triggers = Triggers(names=names(["graph capture_begin make_graphed_callables"]))

    def judge_site(self, site: Site) -> None:
        for region in site.regions:
            inside = site.steps[region.first : region.last]
            called = {step.about for step in inside if step.deed is Deed.CALL and not step.name}
            for block in filter(_caches, region.blocks):
                if any(_is_eager_call(step, block, called) for step in site.steps):
                    text = "the cast weights of autocast outlive this capture"
                    self.report_at(region.span, text, effects=(Effect.STALE,))
        for step in site.steps:
            if step.deed is Deed.GRAPHED and any(map(_caches, step.blocks)):
                text = "`make_graphed_callables()` refuses the cache of autocast"
                self.report_at(step.span, text, effects=(Effect.REFUSES,))


def _caches(block: Block) -> bool:
    """Return whether a context is an autocast that remembers casts."""
    given = dict(block.keywords)
    return (
        block.inside is Inside.CONTEXT
        and block.name in _CONTEXTS
        and not block.is_open
        and given.get("enabled", True) is True
        and given.get("cache_enabled", True) is True
    )


def _is_eager_call(step: Step, block: Block, called: set[str]) -> bool:
    return (
        step.deed is Deed.CALL
        and step.about in called
        and block in step.blocks
        and step.region is None
    )
