"""Where captured regions begin and end: what captures when it is entered, and calls that begin one."""

from __future__ import annotations

import ast

from capturelint.kind import Role, Value
from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.follow import call_method_of_refs
from capturelint.lint.values.frame import Frame, is_manager
from capturelint.lint.values.join import GRAPH

# Methods that begin or end a captured region.
REGIONAL = frozenset("enter_context capture_begin capture_end __enter__ __exit__".split())


def captures_when_entered(frame: Frame, context: Value, node: ast.AST) -> bool:
    """Return whether entering a context begins a captured region."""
    if context.name == GRAPH:
        return True
    if not any(ref.role is Role.INSTANCE for ref in context.refs) or not _is_asked(frame):
        return False
    with frame.dormant():
        entered = call_method_of_refs(frame, context, "__enter__", (), node)
    return entered is not None and entered.name == GRAPH


def _is_asked(frame: Frame) -> bool:
    """Return whether it matters what a frame captures: to itself, or to what enters it."""
    if frame.analysis.surroundings.around:
        return True
    if frame.function is None:
        return False
    facts = frame.function.facts
    is_context = facts.name == "__enter__" or is_manager(facts.decorators)
    return is_context or frame.analysis.is_site(frame)


def mark_region(
    frame: Frame, name: str, receiver: Value | None, arguments: Arguments, node: ast.AST
) -> None:
    """Begin or end a captured region that no `with` statement marks."""
    contexts = arguments.positional if name == "enter_context" else (receiver,)
    if not name.startswith("capture_") and not any(
        one is not None and captures_when_entered(frame, one, node) for one in contexts
    ):
        return
    analysis, begins = frame.analysis, name not in ("capture_end", "__exit__")
    frame.in_region = begins
    if analysis.surroundings.around:
        frame.live = frame.captured = not begins and not frame.loop_line
    if not analysis.is_site(frame):
        return
    frame.live = frame.captured = begins
    if begins:
        analysis.note_region(frame.function)
