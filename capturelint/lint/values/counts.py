"""Python values that a call makes from what the call before left: counts, positions, flags."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from capturelint.kind import UNKNOWN, Kind, Mark, Value
from capturelint.lint.values.changing import changed, note_use, sources_of
from capturelint.lint.values.frame import Frame, chain_text
from capturelint.lint.values.join import joined_sources

_OF_NUMBERS = frozenset("min max int float abs round".split())
_NUMBER = re.compile(r"-?[\d.]+|True|False")


def is_lasting(frame: Frame, target: ast.expr) -> bool:
    """Return whether a target outlives the call, and holds what the call before left in it.

    That is an attribute of self that this call has not set, or a global name.
    """
    if isinstance(target, ast.Name):
        return target.id in frame.globals
    if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
        return False
    return target.value.id == frame.self_name and target.attr not in frame.kept.written


def is_global_number(frame: Frame, target: ast.expr) -> bool:
    """Return whether a target is a global name that starts as a number."""
    if not isinstance(target, ast.Name) or target.id not in frame.globals:
        return False
    return bool(_NUMBER.fullmatch(frame.file.rebound.get(target.id, "")))


def counted_item(frame: Frame, target: ast.Subscript, left: Value, value: Value) -> None:
    """Note that `group["step"] += 1` counts in a mapping that outlives the call.

    Where it is not known to hold a number, an assignment of one under the same key must say so.
    """
    is_named = isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)
    base = frame.evaluate(target.value)
    if (
        not is_named
        or base.is_tensor
        or base.items is not None
        or not _is_from_outside(frame, target)
    ):
        return
    is_number = left.is_host and left.kind is not Kind.HOST_TENSOR
    found = changed(frame, Mark.COUNTER, target, value)
    text = ast.unparse(target)
    start = frame.kept.item_numbers.get(text)
    if start is not None and frame.kept.arms[: len(start)] == start:
        # This call has set it to a number before, whatever way it took.
        return
    frame.items[text] = found
    if not is_number and frame.function is not None:
        frame.kept.item_counters[found.sources[0]] = text


def _is_from_outside(frame: Frame, target: ast.Subscript) -> bool:
    """Return whether a mapping was handed in or is held by self, and not made in the call."""
    name = chain_text(target.value)
    owner, _, attribute = name.partition(".")
    if attribute:
        return owner == frame.self_name and attribute not in frame.kept.written
    return bool(name) and frame.env.get(name, UNKNOWN).element is None


def set_item(frame: Frame, target: ast.Subscript, value: Value) -> None:
    """Note that an item is set: to a number, by which its kind is known, or to something else."""
    text = ast.unparse(target)
    if value.constant and isinstance(value.constant[0], int | float):
        frame.kept.item_numbers.setdefault(text, frame.kept.arms)
    else:
        frame.items.pop(text, None)


def is_next_of_itself(frame: Frame, targets: Sequence[ast.expr], value: ast.expr) -> bool:
    """Return whether an assignment is of the form `self.step = self.step + 1`."""
    if len(targets) != 1 or not is_lasting(frame, targets[0]):
        return False
    key = chain_text(targets[0])
    is_itself = chain_text(value) == key
    return not is_itself and any(chain_text(part) == key for part in _operands(value))


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what a number is computed from: operands, arms, and arguments of `min` and the like."""
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        parts = [node.operand]
    elif isinstance(node, ast.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, ast.Call) and chain_text(node.func) in _OF_NUMBERS:
        parts = node.args
    else:
        yield node
        return
    for part in parts:
        yield from _operands(part)


def counted(frame: Frame, target: ast.expr, value: Value) -> Value:
    """Return a value that the next call starts from, if it is a plain Python value."""
    is_container = value.items is not None or value.element is not None
    is_plain = value.kind in (Kind.HOST_VALUE, Kind.SHAPE) and not value.refs and not is_container
    if not is_plain:
        return value
    found = changed(frame, Mark.COUNTER, target, value)
    attribute = target.attr if isinstance(target, ast.Attribute) else ""
    if frame.function is not None:
        frame.analysis.changes.note_counter(found.sources[0], frame.function, attribute)
        if frame.account is not None:
            frame.account.note_counter(found.sources[0], attribute)
    return found


def combined_sources(frame: Frame, left: Value, right: Value, value: Value) -> Value:
    """Return the result of `left += right` with the changing values in it, or note their use."""
    sources = joined_sources(sources_of(left), sources_of(right))
    if value.is_device_tensor:
        note_use(frame, sources)
        return value
    return value._replace(constant=(), sources=joined_sources(value.sources, sources))
