"""Calls that concern self: of its methods, and of the lists in its attributes."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from capturelint.kind import UNKNOWN, Kind, Role, Value
from capturelint.lint.values.follow import is_super_call
from capturelint.lint.values.frame import Frame, chain_text, raw_span
from capturelint.lint.values.rebound import note_storage

_FILLERS = frozenset("append appendleft extend insert add clear".split())


def note_own_call(
    frame: Frame, node: ast.Call, target: Value, values: Sequence[Value], reads: int
) -> None:
    """Note what a live call does to attributes of self.

    `reads`: how many reads had been noted before the call's own expressions were evaluated.
    """
    function = node.func
    if not isinstance(function, ast.Attribute):
        return
    owner, _, attribute = chain_text(function.value).partition(".")
    if is_super_call(function.value) or (owner == frame.self_name and not attribute):
        for ref in target.refs:
            if ref.role in (Role.METHOD, Role.FUNCTION) and ref.at >= 0:
                frame.kept.note_call(ref.at)
    elif owner == frame.self_name and function.attr == "set_" and values:
        note_storage(frame, function.value, node, values[0], node.args[0])
    elif owner == frame.self_name and "." not in attribute and function.attr in _FILLERS:
        held = frame.values.get(raw_span(function.value), UNKNOWN)
        if held.kind is Kind.HOST_VALUE and not held.refs:
            del frame.kept.reads[reads:]
            frame.kept.note_filled(attribute, node, values)
