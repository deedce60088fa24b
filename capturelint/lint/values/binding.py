"""What binding a target to a value does to the names in scope."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from capturelint.kind import Kind, Mark, Value
from capturelint.lint.values import first_calls
from capturelint.lint.values.changing import note_use, sources_of, written_on_host
from capturelint.lint.values.frame import Frame, chain_text, raw_span
from capturelint.lint.values.given_back import may_give_back
from capturelint.lint.values.join import element_of, join, sequence
from capturelint.lint.values.kept import is_move
from capturelint.lint.values.rebound import is_storage, note_item_store, note_storage
from capturelint.lint.values.subscripts import evaluated_index, is_suspect_index, item_key
from capturelint.rule import Trait


def bind(frame: Frame, target: ast.expr, value: Value, source: ast.expr | None = None) -> None:
    """Bind a target to a value; `source` is the expression that gave it, if known."""
    if (frame.flags or frame.ways) and isinstance(target, (ast.Name, ast.Attribute)):
        frame.forget(chain_text(target))
    if isinstance(target, ast.Name):
        surroundings = frame.analysis.surroundings
        if surroundings.around:
            # There names tell what is a copy on the host, since much of both kinds is about.
            value = surroundings.placed(target.id, value)
        value = surroundings.fixed_attribute(target.id) or value
        frame.env[target.id] = value
        _note_computed(frame, target.id, value, source)
        if frame.dotted_keys:
            _forget(frame, target.id)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(frame, target.elts, value, source)
    elif isinstance(target, ast.Starred):
        bind(frame, target.value, sequence(None, value))
    elif isinstance(target, ast.Attribute):
        _bind_attribute(frame, target, value, source)
    elif isinstance(target, ast.Subscript):
        _store_item(frame, target, value, source)
    if frame.live and not isinstance(target, ast.Subscript):
        frame.values[raw_span(target)] = value


def _bind_attribute(
    frame: Frame, target: ast.Attribute, value: Value, source: ast.expr | None
) -> None:
    is_own = _set_attribute(frame, target, value)
    if is_storage(frame, target):
        note_storage(frame, target.value, target, value, source)
    if frame.live:
        if not any(
            one.mark is Mark.COUNTER and one.span == raw_span(target) for one in value.sources
        ):
            owner = frame.function if is_own else None
            frame.analysis.changes.note_set_anew(owner, target.attr)
            if frame.account is not None:
                frame.account.note_set_anew(target.attr, is_own=is_own)
        if is_own:
            mark = frame.kept.mark_of(target.attr, source, value)
            if source is not None and may_give_back(frame, source, key_of=target):
                # What was there already, from some call on.
                mark = None
            frame.kept.note_store(target.attr, raw_span(target), mark)
            if frame.analysis.surroundings.thorough and is_move(target.attr, source):
                frame.kept.moved.append(raw_span(target))
    if is_own:
        frame.kept.written |= {target.attr}


def _note_computed(frame: Frame, name: str, value: Value, source: ast.expr | None) -> None:
    """Note whether a name is bound to what is computed from the arguments of this call."""
    kept = frame.kept
    is_tensor = source is not None and value.is_device_tensor and not value.weak
    if source is not None and is_tensor and first_calls.is_computed(frame, source):
        kept.computed.add(name)
    else:
        kept.computed.discard(name)
    kept.inputs.discard(name)


def bind_in_place(frame: Frame, target: ast.expr, value: Value) -> None:
    """Bind the target of `+=`: a tensor stays where it is, so that nothing new is kept."""
    if not isinstance(target, ast.Attribute) or not value.is_tensor:
        # What is updated in place is made of what it was.
        bind(frame, target, value, target if isinstance(target, ast.Name) else None)
        return
    _set_attribute(frame, target, value)
    if frame.live:
        frame.values[raw_span(target)] = value


def _set_attribute(frame: Frame, target: ast.Attribute, value: Value) -> bool:
    """Set what is known of an attribute; return whether it is one of self."""
    frame.evaluate(target.value)
    key = chain_text(target)
    if key:
        frame.env[key] = value
        frame.dotted_keys = True
    is_own = key == f"{frame.self_name}.{target.attr}"
    if is_own:
        frame.store(target.attr, value)
    return is_own


def _forget(frame: Frame, name: str) -> None:
    prefix = name + "."
    for key in [key for key in frame.env if key.startswith(prefix)]:
        del frame.env[key]


def _unpack(
    frame: Frame, targets: Sequence[ast.expr], value: Value, source: ast.expr | None
) -> None:
    if value.kind is Kind.SHAPE and isinstance(source, ast.Attribute) and source.attr == "shape":
        _note_rank(frame, source.value, targets)
    items = value.items
    if value.is_device_tensor:
        frame.note(Trait.TENSOR_ITERATION)
    has_star = any(isinstance(target, ast.Starred) for target in targets)
    if items is not None and len(items) == len(targets) and not has_star:
        sources = source.elts if isinstance(source, (ast.Tuple, ast.List)) else [None] * len(items)
        for target, item, part in zip(targets, items, sources, strict=True):
            bind(frame, target, item, part)
        return
    if items is not None and has_star:
        items = None
    element = element_of(value)
    for target in targets:
        bind(frame, target, element)


def _note_rank(frame: Frame, tensor: ast.expr, targets: Sequence[ast.expr]) -> None:
    """Learn the rank of `x` from `b, s, d = x.shape`."""
    if any(isinstance(target, ast.Starred) for target in targets) or not isinstance(
        tensor, ast.Name
    ):
        return
    known = frame.env.get(tensor.id)
    if known is not None and known.is_tensor and known.rank < 0:
        frame.env[tensor.id] = known._replace(rank=len(targets))
    elif known is not None and known.is_unknown:
        frame.env[tensor.id] = Value(Kind.DEVICE_TENSOR, rank=len(targets))


def _store_item(frame: Frame, target: ast.Subscript, value: Value, source: ast.expr | None) -> None:
    base = frame.evaluate(target.value)
    note_item_store(frame, target, base, value, source)
    index = evaluated_index(frame, base, target.slice)
    written_on_host(frame, target.value, target, base)
    if frame.changing and base.is_device_tensor:
        note_use(frame, sources_of(index))
        note_use(frame, sources_of(value))
    if is_suspect_index(target.slice, index) or (base.is_tensor and value.is_host):
        frame.note(Trait.TENSOR_SUBSCRIPT)
    key = chain_text(target.value)
    named = item_key(target.value, index)
    if named and key in frame.env and base.is_unknown and not _holds(base):
        # One field of a mapping says nothing of the others.
        frame.env[named] = value
        frame.dotted_keys = True
    elif not base.is_tensor and key:
        held = sequence(None, value if not _holds(base) else join(element_of(base), value))
        if "." not in key and key in frame.env and not base.refs:
            frame.env[key] = held._replace(kind=base.kind, name=base.name)
        elif key.startswith(frame.self_name + ".") and key.count(".") == 1:
            frame.store(key.partition(".")[2], held)


def _holds(value: Value) -> bool:
    return bool(value.items) or value.element is not None
