"""Gradients of a parameter gather on the stream on which it was first used.

A backward pass is captured after the same work ran, with gradients, on the default stream and what it
gave is still alive; or with a DistributedDataParallel or FullyShardedDataParallel module that was made
outside a side stream.

## Why capture cares

Autograd makes a node for each parameter (`AccumulateGrad`) the first time that the parameter takes part
in a forward pass, and the node keeps the stream of that moment as long as anything holds the node: a
loss that is still referred to, or DDP's reducer. A backward captured later makes the default stream
wait for the capturing one, which is refused.

Measured on an H200 with torch 2.11: such a backward refuses, with an error that names no line
(`...Invalidated`). That DDP has to be made on a side stream is stated in the notes on CUDA semantics of
torch; for FSDP it is known from source and was not run.

## What to do instead

Warm up, and set up DDP or FSDP, inside `with torch.cuda.stream(side):`, as the documentation of torch
shows; or drop the loss of the eager pass (`del loss`) before the capture.
"""

from __future__ import annotations

from capturelint.rule import About, Deed, Effect, Inside, Region, Rule, Site, Step, Triggers, names

_STREAMS = ("torch.cuda.stream", "torch.cuda.StreamContext")
_NO_GRADIENTS = ("torch.no_grad", "torch.inference_mode")
_WRAPPERS = names("DistributedDataParallel FullyShardedDataParallel".split())


class GradientStream(Rule):
    about = About(code="CL704", name="gradient-stream", effects=(Effect.REFUSES,), since="0.1")
    triggers = Triggers(names=names(["backward"]))

    def judge_site(self, site: Site) -> None:
        for region in site.regions:
            inside = site.steps[region.first : region.last]
            if not any(map(_is_backward, inside)):
                continue
            called = {step.about for step in inside if step.deed is Deed.CALL and not step.name}
            before = site.steps[: region.first]
            eager = [s for s in before if _is_plain(s, region)]
            self._judge_warmup(eager, before, called)
            for step in eager:
                is_wrapper = step.name.rpartition(".")[2] in _WRAPPERS
                if step.deed is Deed.BIND and is_wrapper and step.about in called:
                    self.report_at(step.span, f"`{step.about}` is not made on a side stream")

    def _judge_warmup(self, eager: list[Step], before: tuple[Step, ...], called: set[str]) -> None:
        losses = {s.about.removesuffix(".backward") for s in eager if _is_backward(s)}
        for step in eager:
            if step.deed is not Deed.BIND or step.about not in losses:
                continue
            is_alive = before_last(before, step.about) is step
            made_of = called & {name for name in step.names if name.isidentifier()}
            if is_alive and made_of:
                text = (
                    f"`{step.about}` keeps gradients on the default stream, before a captured one"
                )
                self.report_at(step.span, text)
                return


def before_last(steps: tuple[Step, ...], about: str) -> Step | None:
    """Return the last step that binds or deletes a name."""
    bound = [step for step in steps if step.deed is Deed.BIND and step.about == about]
    return bound[-1] if bound else None


def _is_backward(step: Step) -> bool:
    return step.deed is Deed.CALL and step.about.endswith(".backward")


def _is_plain(step: Step, region: Region) -> bool:
    """Return whether a step runs on the stream of its caller, with gradients, before a region."""
    contexts = {block.name for block in step.within(Inside.CONTEXT)}
    decorators = {name for block in step.within(Inside.FUNCTION) for name, _ in block.keywords}
    functions = [block for block in region.blocks if block.inside is Inside.FUNCTION]
    return (
        step.function == functions[-1]
        and step.region is None
        and contexts.isdisjoint((*_STREAMS, *_NO_GRADIENTS))
        and decorators.isdisjoint(_NO_GRADIENTS)
    )
