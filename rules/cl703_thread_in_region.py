"""Another thread that works on the device while this one captures breaks the capture.

A `threading.Thread` or an executor that is given a function of this region which works with torch.

## Why capture cares

In the default capture mode, `global`, an allocation by any thread of the process is refused while a
stream is capturing. What the thread does is in no graph in any case, since a replay runs no Python: its
results stay as they were at capture.

Measured on an H200 with torch 2.11: a thread that allocates 64 MiB while another captures refuses in
the mode `global`, and the next operation of the capturing thread is blamed
(`operation failed due to a previous error during capture`). In `thread_local` and `relaxed` the capture
succeeds.

## What to do instead

Do the work in the capturing thread, or before the region. For threads that must go on, such as a data
loader that pins memory, capture with `capture_error_mode="thread_local"`.

What a thread runs is known only where it is a function or lambda of the same function.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import About, Effect, Rule, Subject, Triggers, argument, method_call, names

_THREADS = ("threading.Thread", "threading.Timer")
_STARTERS = ("_thread.start_new_thread", "asyncio.to_thread")
_METHODS = ("submit", "map", "run_in_executor")


class ThreadInRegion(Rule):
    about = About(
        code="CL703",
        name="thread-in-region",
        effects=(Effect.REFUSES, Effect.STALE),
        since="0.1",
    )
    triggers = Triggers(
        names=names(["Thread Timer start_new_thread to_thread", " ".join(_METHODS)])
    )

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._own: dict[str, bool] = {}
        self._started: list[tuple[cst.Call, cst.BaseExpression]] = []
        self._executors: set[str] = set()

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self._own[node.name.value] = _works_on_tensors(node.body)

    def visit_Assign(self, node: cst.Assign) -> None:
        if self._is_executor(node.value):
            self._executors.update(_text(target.target) for target in node.targets)

    def visit_With(self, node: cst.With) -> None:
        for item in node.items:
            if item.asname is not None and self._is_executor(item.item):
                self._executors.add(_text(item.asname.name))

    def visit_Call(self, node: cst.Call) -> None:
        name = self.full_name(node.func)
        called = method_call(node)
        target = None
        if name in _THREADS:
            target = argument(node, "target" if name == _THREADS[0] else "function", 1)
        elif name in _STARTERS:
            target = argument(node, "function", 0)
        elif called is not None and called[1] in _METHODS and _text(called[0]) in self._executors:
            target = argument(node, "fn", 0)
        if target is not None:
            self._started.append((node, target))

    def leave_Module(self, original_node: cst.Module) -> None:  # noqa: ARG002  (libcst names it)
        for call, target in self._started:
            if isinstance(target, cst.Lambda):
                works = _works_on_tensors(target.body)
            else:
                works = isinstance(target, cst.Name) and self._own.get(target.value, False)
            if works:
                self.report(call, f"`{_text(target)}` works on the device in another thread")

    def _is_executor(self, node: cst.BaseExpression) -> bool:
        return isinstance(node, cst.Call) and self.full_name(node.func).endswith("PoolExecutor")


def _works_on_tensors(body: cst.CSTNode) -> bool:
    """Return whether code names torch or a CUDA device."""
    text = _text(body)
    return "torch." in text or ".cuda(" in text or "device=" in text


def _text(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)
