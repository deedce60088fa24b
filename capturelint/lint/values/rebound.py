"""Tensors of self that get other memory, and items of its lists and dicts that get other tensors."""

from __future__ import annotations

import ast

from capturelint.kind import Kind, Value
from capturelint.lint.values.frame import Frame, chain_text, raw_span


def is_storage(frame: Frame, target: ast.Attribute) -> bool:
    """Return whether a target is `self.weight.data`."""
    return target.attr == "data" and _is_own(frame, target.value)


def note_storage(
    frame: Frame, holder: ast.expr, place: ast.expr, value: Value, source: ast.expr | None
) -> None:
    """Note that `place` gives the tensor in an attribute of self the memory of another."""
    if not frame.live or not _is_own(frame, holder) or not isinstance(holder, ast.Attribute):
        return
    mark = frame.kept.mark_of(holder.attr, source, value)
    frame.kept.note_store(holder.attr, raw_span(place), mark)
    frame.kept.written |= {holder.attr}


def note_item_read(frame: Frame, node: ast.Subscript) -> None:
    """Note that live code reads an item of what an attribute of self holds, by a constant key."""
    item = _item(frame, node)
    if item:
        frame.kept.note_read(item)


def note_item_store(
    frame: Frame, target: ast.Subscript, base: Value, value: Value, source: ast.expr | None
) -> None:
    """Note that a tensor is put in a list or dict that an attribute of self holds."""
    item = _item(frame, target)
    if not item or base.is_tensor or base.kind is Kind.MODULE:
        return
    mark = frame.kept.mark_of(item, source, value)
    frame.kept.note_store(item, raw_span(target), mark)
    frame.kept.written |= {item}


def _item(frame: Frame, node: ast.Subscript) -> str:
    """Return what stands for `self.state["h"]` among attributes, "" for what is no such item."""
    if not frame.live or not _is_own(frame, node.value) or not isinstance(node.slice, ast.Constant):
        return ""
    return f"{chain_text(node.value).partition('.')[2]}[{node.slice.value!r}]"


def _is_own(frame: Frame, node: ast.expr) -> bool:
    """Return whether an expression is an attribute of self."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == frame.self_name
    )
