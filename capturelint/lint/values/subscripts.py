"""What a subscript gives, and which indices make the host wait."""

from __future__ import annotations

import ast

from capturelint.kind import HOST, UNKNOWN, Kind, Pinned, Value
from capturelint.lint.values.follow import call_method_of_refs
from capturelint.lint.values.frame import Frame, chain_text, raw_span
from capturelint.lint.values.join import element_of, sequence
from capturelint.lint.values.lookup import attribute_value
from capturelint.lint.values.pinned import is_view
from capturelint.lint.values.rebound import note_item_read
from capturelint.rule import Trait


def subscripted(frame: Frame, node: ast.expr) -> Value:
    """Return what `base[index]` gives."""
    assert isinstance(node, ast.Subscript), "dispatched by type"
    found = _subscripted(frame, node)
    note_item_read(frame, node)
    if frame.items and isinstance(node.slice, ast.Constant):
        # An item that the call has counted up is no longer what its mapping held.
        return frame.items.get(ast.unparse(node), found)
    return found


def _subscripted(frame: Frame, node: ast.Subscript) -> Value:
    key = chain_text(node.value) + "[]" if frame.dotted_keys else ""
    base = frame.evaluate(node.value)
    index = evaluated_index(frame, base, node.slice)
    if is_suspect_index(node.slice, index):
        frame.note(Trait.TENSOR_SUBSCRIPT)
    if key and key in frame.env:
        return frame.env[key]
    if key and item_key(node.value, index) in frame.env:
        return frame.env[item_key(node.value, index)]
    if base.is_tensor:
        kind = base.kind
        if kind is Kind.HOST_TENSOR and index.is_device_tensor:
            kind = Kind.UNKNOWN
        pinned = base.pinned if is_view(node.slice, index) else Pinned.NO
        rank = _indexed_rank(base, index, node.slice)
        return Value(kind, base.dtype, rank, weak=base.weak, pinned=pinned)
    if base.items is not None and index.constant and isinstance(index.constant[0], int):
        position = index.constant[0]
        if -len(base.items) <= position < len(base.items):
            return base.items[position]
    if isinstance(node.slice, ast.Slice):
        if base.items is not None or base.element is not None:
            sliced = sequence(None, element_of(base))
            return sliced._replace(kind=base.kind, name=base.name)
        return base if base.kind is not Kind.UNKNOWN and not base.refs else UNKNOWN
    if base.refs and base.kind is not Kind.SHAPE:
        found = _of_object(frame, base, index, node)
        if found is not None:
            return found
    return element_of(base) if base.kind is not Kind.MODULE or base.element else UNKNOWN


def item_key(base: ast.expr, index: Value) -> str:
    """Return the name that an item under a text, such as `group["step"]`, has among the names, or ""."""
    chain = chain_text(base)
    is_text = bool(index.constant) and isinstance(index.constant[0], str)
    # It begins as the attributes of `group` do, and is forgotten with them.
    return f"{chain}.[{index.constant[0]!r}]" if chain and is_text else ""


def _of_object(frame: Frame, base: Value, index: Value, node: ast.expr) -> Value | None:
    """Return what subscripting an object of the project gives, None if that is not known."""
    if index.constant and isinstance(index.constant[0], str):
        field = attribute_value(frame, base, index.constant[0])
        if field.kind is not Kind.UNKNOWN:
            # Objects that are also mappings give their attributes by name.
            return field
    return call_method_of_refs(frame, base, "__getitem__", [index], node)


def evaluated_index(frame: Frame, base: Value, node: ast.expr) -> Value:
    """Return the value of an index of `base`. A comparison in a tensor's brackets is a mask."""
    index = frame.evaluate(node)
    is_open = index.is_unknown and isinstance(node, ast.Compare)
    if not is_open or not base.is_device_tensor or base.weak or base.mixed:
        return index
    mask = Value(Kind.DEVICE_TENSOR, "bool", weak=True)
    if frame.live:
        frame.values[raw_span(node)] = mask
    return mask


def is_suspect_index(node: ast.expr, index: Value) -> bool:
    """Return whether an index is other than integers, plain slices and index tensors."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    if any(isinstance(part, ast.List) for part in parts):
        return True
    values = index.items if isinstance(node, ast.Tuple) and index.items is not None else (index,)
    for value in values:
        for part in (value, *(value.items or ())):
            if part.kind is Kind.HOST_TENSOR or (part.element and part.element.is_tensor):
                return True
            if part.is_device_tensor and (part.dtype == "bool" or part.rank == 0):
                return True
            if value is not index and part.kind is Kind.HOST_VALUE and part.element is not None:
                return True
    return False


def _indexed_rank(base: Value, index: Value, node: ast.expr) -> int:
    """Return the rank of a tensor after basic indexing, -1 when an index is not basic."""
    if base.rank < 0:
        return -1
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    values = index.items if isinstance(node, ast.Tuple) and index.items else (index,)
    rank = base.rank
    for part, value in zip(parts, values, strict=False):
        if isinstance(part, ast.Slice) or (value.constant == (Ellipsis,)):
            continue
        if value.is_none:
            rank += 1
        elif (
            value.kind in (Kind.SHAPE, Kind.HOST_VALUE) and value.items is None and not value.refs
        ) or (value.is_tensor and value.rank == 0 and value.dtype == "int"):
            rank -= 1
        elif value.is_tensor and value.rank == 1 and value.dtype == "int" and len(parts) == 1:
            continue
        else:
            return -1
    return max(rank, -1)


def sliced_by(frame: Frame, node: ast.expr) -> Value:
    """Return the value of `a:b:c` inside a subscript."""
    assert isinstance(node, ast.Slice), "dispatched by type"
    bounds = [frame.evaluate(b) for b in (node.lower, node.upper, node.step) if b is not None]
    if any(bound.is_device_tensor for bound in bounds):
        frame.note(Trait.TENSOR_SUBSCRIPT)
    return HOST
