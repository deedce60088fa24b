"""A call that waits for the device, or asks how far it has got, cannot be part of a graph.

`torch.cuda.synchronize()`, `synchronize()` and `query()` of a CUDA stream or event,
`elapsed_time()` between two events; of `torch.distributed` `barrier()` and what passes objects between
processes, such as `broadcast_object_list()`.

## Why capture cares

While a stream is capturing, nothing runs, so there is nothing to wait for. CUDA refuses the call
and the capture is lost, also where another thread makes it. The call is often left from timing or
debugging and does nothing for the result.

Measured on an H200 with torch 2.11: `torch.cuda.synchronize`, stream and event `synchronize` and
`query`, and `elapsed_time` (also of events that were over before) refuse at their line. Recording
an event, `stream.wait_stream(...)`, `stream.wait_event(...)` and `event.wait()` order work on the
device without the host and capture well.

What is said of collectives is known from source: over NCCL `barrier()` waits for the current stream
(`ProcessGroupNCCL.cpp`), and objects are pickled on the host, copied to the device and their sizes read
back (`torch/distributed/distributed_c10d.py`). Collectives of tensors, such as `all_reduce`, capture.

## What to do instead

Remove the call, or move it to the code that replays the graph. To order two streams use
`side.wait_stream(torch.cuda.current_stream())` before and the reverse after. To time a captured
region, time its replays from outside. Exchange objects, and wait for other processes, before the region.

A stream or event that is not known to be one is reported only for `synchronize()`, and only if
its name ends in what it is (`self.copy_stream.synchronize()`). A collective is reported in the default
group only, which is taken for one of NCCL: another group, or another `device`, may be of the host.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import (
    About,
    Effect,
    Kind,
    Rule,
    Triggers,
    argument,
    has_star_arguments,
    method_call,
    names,
    operations_of,
)

_ROWS = operations_of("CL701")
_CALLS = frozenset(row.op for row in _ROWS if not row.form)
_COLLECTIVES = {row.op: row for row in _ROWS if row.form == "over NCCL"}
# Where the group stands among the arguments, and what makes a call harmless, as in torch 2.13.
_GROUPS = {"barrier": 0, "gather_object": 3, "scatter_object_list": 3}
_SPARING = {"async_op": 1, "device": 3}
_METHODS = names(op.rpartition(".")[2] for op in _CALLS)
# Functions and classes whose call gives a stream or an event.
_STREAMS = names(
    [
        "torch.cuda.Stream torch.cuda.streams.Stream torch.cuda.ExternalStream torch.Stream",
        "torch.cuda.current_stream torch.cuda.default_stream torch.cuda.get_stream_from_external",
    ]
)
_EVENTS = names(["torch.cuda.Event torch.cuda.streams.Event torch.Event"])


class SyncCall(Rule):
    about = About(
        code="CL701", name="sync-call", effects=(Effect.REFUSES,), since="0.1", waits=True
    )
    triggers = Triggers(names=_METHODS | names(op.rpartition(".")[2] for op in _COLLECTIVES))

    def visit_Call(self, node: cst.Call) -> None:
        name = self.full_name(node.func)
        called = method_call(node)
        if name in _CALLS:
            is_event = name.startswith("torch.cuda.Event.")
            self._say(node, f"{name}()", waits="synchronize" in name and not is_event)
        elif name in _COLLECTIVES:
            self._judge_collective(node, name)
        elif called is not None and called[1] in _METHODS:
            receiver, method = called
            owner = self._class_of(receiver)
            is_plain_wait = method == "synchronize" and not node.args
            if f"{owner}.{method}" in _CALLS or (is_plain_wait and self._is_called_one(receiver)):
                # To wait for an event is how the host takes over what was copied without waiting.
                is_event = owner.endswith("Event") or _word(receiver).endswith("event")
                self._say(node, f".{method}()", waits=is_plain_wait and not is_event)

    def _judge_collective(self, node: cst.Call, name: str) -> None:
        words = _COLLECTIVES[name].spared_by
        is_spared = any(argument(node, word, _SPARING[word]) is not None for word in words)
        group = argument(node, "group", _GROUPS.get(name.rpartition(".")[2], 2))
        if has_star_arguments(node) or is_spared or not self._is_default_group(group):
            return
        # Around a region processes wait for each other on purpose.
        self._say(node, f"{name}()", waits=False)

    def _is_default_group(self, group: cst.BaseExpression | None) -> bool:
        if group is None:
            return True
        value = self.value(group)
        return value.is_none or value.name == "torch.distributed.group.WORLD"

    def _class_of(self, receiver: cst.BaseExpression) -> str:
        """Return `torch.cuda.Stream` or `torch.cuda.Event` where that is known, else ""."""
        name = self.full_name(receiver)
        if isinstance(receiver, cst.Call):
            name = self.full_name(receiver.func) or name
        if name in _STREAMS:
            return "torch.cuda.Stream"
        return "torch.cuda.Event" if name in _EVENTS else ""

    def _is_called_one(self, receiver: cst.BaseExpression) -> bool:
        value = self.value(receiver)
        if value.kind is not Kind.UNKNOWN or value.refs or value.name:
            return False
        return _word(receiver).endswith(("stream", "event"))

    def _say(self, node: cst.Call, text: str, *, waits: bool = True) -> None:
        message = f"`{text}` has the host wait for the device, which capture refuses"
        self.report(node, message, waits=waits)


def _word(node: cst.BaseExpression) -> str:
    """Return the last name in a chain without its number: `event` of `self.event_2`."""
    if isinstance(node, cst.Attribute):
        node = node.attr
    return node.value.lower().rstrip("0123456789_") if isinstance(node, cst.Name) else ""
