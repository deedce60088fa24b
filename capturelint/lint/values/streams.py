"""Side streams that captured code enters, and whether anything around it has streams wait."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.frame import Frame, chain_text, raw_span
from capturelint.lint.values.state import FunctionState

# Methods that order the work of streams, or are called so.
_WAITS = frozenset("wait_stream wait_event wait record_event record synchronize fork join".split())
_CONTEXTS = frozenset(
    ("torch.cuda.stream", "torch.cuda.StreamContext", "torch.cuda.streams.stream")
)
_MADE = frozenset(("torch.cuda.Stream", "torch.cuda.streams.Stream", "torch.Stream"))


def note_streams(
    frame: Frame, node: ast.Call, name: str, full_name: str, arguments: Arguments
) -> None:
    """Note that live code has streams wait, or enters one that an attribute or a module holds."""
    if name in _WAITS:
        frame.kept.waits = True
    elif full_name in _CONTEXTS and len(node.args) == 1 and arguments.positional:
        is_stream = arguments.positional[0].name in _MADE
        if is_stream and _is_held(frame, node.args[0]):
            frame.kept.streams.append(raw_span(node))


def _is_held(frame: Frame, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return node.id not in frame.env and node.id not in frame.closure
    return bool(chain_text(node))


def is_ordered(state: FunctionState, states: Mapping[int, FunctionState]) -> bool:
    """Return whether streams wait in a function, in what leads to it, or in what these call."""
    above = {state.index}
    pending = [state]
    while pending:
        new = pending.pop().callers - above
        above |= new
        pending += [states[index] for index in new if index in states]
    return any(
        one.kept.waits and (one.index in above or not above.isdisjoint(one.callers))
        for one in states.values()
    )
