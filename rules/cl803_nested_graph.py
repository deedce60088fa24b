"""A callable that makes CUDA graphs of its own cannot be called while another graph is captured.

What was compiled with `mode="reduce-overhead"`, `mode="max-autotune"` or `backend="cudagraphs"`, or
made by `make_graphed_callables`, and is called inside a captured region; also a capture that begins
inside another.

## Why capture cares

Such a callable captures and replays by itself. While a stream is capturing it can do neither: torch
raises, and the outer capture is lost.

Measured on an H200 with torch 2.11: a `reduce-overhead` callable that has been warmed up refuses with
`Cannot prepare for replay during capturing stage`. `torch.compile` in its default mode captures once it
has compiled. The other forms are known from the source of torch and were not run.

## What to do instead

Compile with the default mode, or `mode="max-autotune-no-cudagraphs"`, what a captured region calls; or
drop the outer capture and let the compiler make the graphs.

A callable is known by the assignment that made it, in the same function or the same class.
"""

from __future__ import annotations

from capturelint.rule import About, Deed, Effect, Rule, Site, Step, Triggers, names

_MODES = ("reduce-overhead", "max-autotune")


class NestedGraph(Rule):
    about = About(code="CL803", name="nested-graph", effects=(Effect.REFUSES,), since="0.1")
    triggers = Triggers(names=names(["graph capture_begin"]))

    def judge_site(self, site: Site) -> None:
        made = {s.about: _makes_graphs(s) for s in site.steps if s.deed is Deed.BIND}
        for region in site.regions:
            if any(other.block in region.blocks for other in site.regions):
                self.report_at(region.span, "this capture begins inside another")
            for step in site.steps[region.first : region.last]:
                if step.deed is Deed.GRAPHED or (
                    step.deed is Deed.CALL and made.get(step.about, False)
                ):
                    text = f"`{step.about}()`" if step.deed is Deed.CALL else "this call"
                    self.report_at(step.span, f"{text} makes graphs of its own inside a capture")


def _makes_graphs(step: Step) -> bool:
    """Return whether a name is bound to a callable that captures by itself."""
    if step.name.endswith("make_graphed_callables"):
        return True
    given = dict(step.keywords)
    has_mode = given.get("mode") in _MODES and "backend" not in given
    return step.name == "torch.compile" and (has_mode or given.get("backend") == "cudagraphs")
