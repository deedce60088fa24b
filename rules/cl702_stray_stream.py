"""Work on a stream that is not part of the capture is not part of the graph.

Inside a captured region: work on the default stream, and on a side stream that has not waited for the
capturing stream before, or that the capturing stream does not wait for afterwards.

## Why capture cares

A capture records the stream it began on, and others only from where they wait for it. An operation on
the default stream raises nothing: it runs once, while the graph is captured, and no replay runs it
again. An operation on a side stream that was not forked from the capturing stream is refused, and work
that is not joined to it again makes the end of the capture fail, without a line.

Measured on an H200 with torch 2.11: the default stream inside a region gave stale results in every
capture mode; a side stream without a fork refuses in the modes `global` and `thread_local`, and is
silently left out in `relaxed`; an unjoined stream fails at the end of the capture.

## What to do instead

Fork and join: `side.wait_stream(torch.cuda.current_stream())`, then `with torch.cuda.stream(side):`,
then `torch.cuda.current_stream().wait_stream(side)`; or the same with events. Inside a region ask for
`torch.cuda.current_stream()`, never for the default stream.

Around a region, a warm-up on a new stream that has not waited for the current one is reported too: it
may read inputs before they are written.

Of a stream that an attribute or a module holds, work is reported where no function that leads there, and none
that these call, has streams wait. Where a function, or a region that it captures, waits for anything before or after, by a stream or an event, or is not seen to make or
hold the stream itself, nothing is reported: the other half may be elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from capturelint.rule import (
    About,
    Deed,
    Effect,
    Inside,
    Mark,
    Region,
    Rule,
    Site,
    Step,
    Subject,
    Triggers,
    method_call,
    names,
)

_WAITS = names("wait_stream wait_event wait record_event record synchronize fork join".split())
_MAKERS = ("torch.cuda.Stream", "torch.cuda.streams.Stream", "torch.Stream")
_CONTEXTS = ("torch.cuda.stream", "torch.cuda.StreamContext", "torch.cuda.streams.stream")


class StrayStream(Rule):
    about = About(
        code="CL702",
        name="stray-stream",
        effects=(Effect.REFUSES, Effect.STALE),
        since="0.1",
    )
    triggers = Triggers(names=names(["stream StreamContext default_stream"]))

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._made: dict[str, str] = {}
        # The method, what it is called on and what it is given, in the order of the source.
        self._waits: list[tuple[str, str, str]] = []
        self._entered: list[tuple[cst.Call, str, int]] = []

    def visit_Assign(self, node: cst.Assign) -> None:
        if isinstance(node.value, cst.Call):
            for target in node.targets:
                self._made[_text(target.target)] = self.full_name(node.value.func)

    def visit_Call(self, node: cst.Call) -> None:
        called = method_call(node)
        if called is not None and called[1] in _WAITS:
            given = _text(node.args[0].value) if node.args else ""
            self._waits.append((called[1], _text(called[0]), given))

    def visit_With(self, node: cst.With) -> None:
        for item in node.items:
            call = item.item
            if not isinstance(call, cst.Call) or self.full_name(call.func) not in _CONTEXTS:
                continue
            if len(call.args) != 1:
                continue
            stream = call.args[0].value
            maker = self.full_name(stream.func) if isinstance(stream, cst.Call) else ""
            text = _text(stream)
            maker = maker or self._made.get(text, "")
            if maker.endswith(".default_stream"):
                self._say_default(call, text)
            elif self._is_side(call, maker):
                self._entered.append((call, text, len(self._waits)))

    def leave_Module(self, original_node: cst.Module) -> None:  # noqa: ARG002  (libcst names it)
        for call, text, before in self._entered:
            if not self._waits:
                self._say(call, f"`{text}` is not forked from the capturing stream")
            elif (
                text in self._made
                and self._is_forked(text, before)
                and not self._is_joined(text, before)
            ):
                self._say(call, f"`{text}` is not joined to the capturing stream again")

    def judge_site(self, site: Site) -> None:
        """Report streams of the site that are astray, in its regions and in its warm-up."""
        if not site.regions:
            return
        for region in site.regions:
            self._judge_region(site, region)
        self._judge_warmup(site)

    def _judge_region(self, site: Site, region: Region) -> None:
        """Report a stream of this function that a region enters without a fork, or does not join."""
        inside = site.steps[region.first : region.last]
        for place, step in enumerate(inside):
            stream = _entered_stream(step)
            if not stream or not _is_made_here(site, region, stream, step):
                continue
            if not any(_is_inside(s, stream) for s in inside[place + 1 :]):
                continue
            waits = [s for s in inside if _orders(s)]
            if not waits:
                self._say_astray(step, region, stream)
            elif _forks(inside[:place], stream) and not _joins(inside[place:], stream):
                text = f"`{stream}` is not joined to the capturing stream again, so its work is refused"
                self.report_at(step.span, text, effects=(Effect.REFUSES,))

    def _say_astray(self, step: Step, region: Region, stream: str) -> None:
        """Report work on a stream that is not forked, which only the mode `relaxed` lets pass."""
        text = f"`{stream}` is not forked from the capturing stream, so its work is "
        if dict(region.keywords).get("capture_error_mode", "global") == "relaxed":
            self.report_at(step.span, f"{text}in no replay", effects=(Effect.STALE,))
        else:
            self.report_at(step.span, f"{text}refused", effects=(Effect.REFUSES,))

    def _judge_warmup(self, site: Site) -> None:
        """Report a warm-up on a new stream that has not waited for what its inputs need."""
        for place, step in enumerate(site.steps):
            if step.deed is not Deed.CALL or step.name not in _CONTEXTS or step.region is not None:
                continue
            before = [s for s in site.steps[:place] if s.function == step.function]
            stream = step.names[0] if len(step.names) == 1 else ""
            made = [s for s in before if s.deed is Deed.BIND and s.about == stream]
            if not made or made[-1].name not in _MAKERS or any(map(_orders, before)):
                continue
            after = site.steps[place + 1 :]
            if any(s.deed is Deed.CALL and _is_on(s, stream) and not _orders(s) for s in after):
                text = f"`{stream}` has not waited for the current stream, and may overtake it"
                self.report_at(step.span, text, effects=(Effect.STALE,))

    def _is_forked(self, text: str, before: int) -> bool:
        return any(
            method == "wait_stream" and receiver == text
            for method, receiver, _ in self._waits[:before]
        )

    def _is_joined(self, text: str, before: int) -> bool:
        """Return whether anything may wait for the stream after work on it has begun."""
        return any(
            method != "wait_stream" or text == given for method, _, given in self._waits[before:]
        )

    def _is_side(self, call: cst.Call, maker: str) -> bool:
        return maker in _MAKERS if maker else self.mark(call) is Mark.UNFORKED

    def _say_default(self, node: cst.Call, text: str) -> None:
        message = f"work on `{text}` runs once, at capture, and in no replay"
        self.report(node, message, effects=(Effect.STALE,))

    def _say(self, node: cst.Call, message: str) -> None:
        self.report(node, f"{message}, so its work is refused", effects=(Effect.REFUSES,))


def _entered_stream(step: Step) -> str:
    """Return the local name of the stream that a step of a region enters, else ""."""
    if step.deed is not Deed.CALL or step.name not in _CONTEXTS or len(step.names) != 1:
        return ""
    # What an attribute holds, another method may fork and join.
    return step.names[0] if step.names[0].isidentifier() else ""


def _is_made_here(site: Site, region: Region, stream: str, entered: Step) -> bool:
    """Return whether a stream is made before the region, and nothing else may fork or join it."""
    before = site.steps[: region.first]
    made = [s for s in before if s.deed is Deed.BIND and s.about == stream]
    if not made or made[-1].name not in _MAKERS or made[-1].function != entered.function:
        return False
    if region.stream and not any(
        s.deed is Deed.BIND and s.about == region.stream and s.name in _MAKERS for s in before
    ):
        return False
    is_capturing = stream == region.stream or any(b.about == stream for b in region.blocks)
    others = [s for s in site.steps if s.function != entered.function]
    is_shared = any(entered.function in s.blocks and _is_about(s, stream) for s in others)
    return not is_capturing and not is_shared and not any(_gives(s, stream) for s in site.steps)


def _is_about(step: Step, stream: str) -> bool:
    return stream in step.names or step.about.partition(".")[0] == stream


def _gives(step: Step, stream: str) -> bool:
    """Return whether a step may have other code wait for a stream, or make it the current one."""
    if step.deed is Deed.BIND:
        return stream in step.names
    is_own = step.name in _CONTEXTS or _orders(step) or step.about.endswith(".record_stream")
    return step.deed is Deed.CALL and stream in step.names and not is_own


def _is_inside(step: Step, stream: str) -> bool:
    entered = [b for b in step.within(Inside.CONTEXT) if b.name in _CONTEXTS]
    return bool(entered) and entered[-1].about == stream


def _forks(steps: Sequence[Step], stream: str) -> bool:
    return any(s.deed is Deed.CALL and s.about == f"{stream}.wait_stream" for s in steps)


def _joins(steps: Sequence[Step], stream: str) -> bool:
    """Return whether anything may wait for a stream after work on it has begun."""
    return any(
        _orders(s) and (not s.about.endswith(".wait_stream") or stream in s.names) for s in steps
    )


def _orders(step: Step) -> bool:
    """Return whether a step makes streams, or the host, wait."""
    return step.deed is Deed.CALL and step.about.rpartition(".")[2] in {*_WAITS, "barrier"}


def _is_on(step: Step, stream: str) -> bool:
    """Return whether a step that is no capture runs on a stream."""
    entered = [b for b in step.within(Inside.CONTEXT) if b.name in _CONTEXTS]
    # Functions of torch may only set something up, such as `torch.no_grad()`.
    return bool(entered) and entered[-1].about == stream and step.region is None and not step.name


def _text(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)
