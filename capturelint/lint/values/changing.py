"""Host values that change from call to call: where they arise, and whether device work uses them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from capturelint.kind import Kind, Mark, Pinned, Source, Value
from capturelint.lint.values.frame import Frame, chain_text, raw_span
from capturelint.lint.values.join import joined_sources
from capturelint.rule import Trait

# They copy from the host, or wait for it, which other rules speak of.
_COPIES = frozenset("to cuda type_as copy_ tensor as_tensor asarray new_tensor from_numpy".split())
# Only tensors have them; what optimizers update is rarely known to be one.
_IN_PLACE = frozenset("add_ sub_ mul_ div_ pow_ lerp_ addcmul_ addcdiv_ fill_".split())
_OF_PINNED = (Mark.PINNED, Mark.WRITTEN)
_JUMPS = (ast.Continue, ast.Break, ast.Return)


def changed(frame: Frame, mark: Mark, node: ast.AST, value: Value) -> Value:
    """Return `value` as one that `node` makes anew in each call."""
    if frame.function is None:
        return value
    if frame.live:
        frame.note(Trait.CHANGING_VALUE)
    source = Source(mark, frame.function.index, raw_span(node))
    return value._replace(constant=(), sources=joined_sources((source,), value.sources))


def written_on_host(frame: Frame, holder: ast.expr, node: ast.expr, value: Value) -> None:
    """Note that live code writes `node`, all or a part of the pinned tensor that `holder` names."""
    key = chain_text(holder)
    is_pinned = value.kind is Kind.HOST_TENSOR and value.pinned is Pinned.YES
    if frame.live and is_pinned and key.startswith(f"{frame.self_name}."):
        frame.env[key] = changed(frame, Mark.WRITTEN, node, value)
        frame.dotted_keys = True


def sources_of(value: Value) -> tuple[Source, ...]:
    """Return the changing values that a value, or an item of it, was made of."""
    found = value.sources
    for item in value.items or ():
        found = joined_sources(found, item.sources)
    return found if value.element is None else joined_sources(found, value.element.sources)


def note_use(frame: Frame, sources: Iterable[Source]) -> None:
    """Note that device work in live code uses what `sources` gave."""
    if frame.live:
        found = tuple(sources)
        frame.analysis.changes.used.update(found)
        if frame.account is not None:
            frame.account.note_used(found)


def passed_on(frame: Frame, node: ast.expr, value: Value) -> Value:
    """Return what a live expression gives, with the changing values that its parts bring.

    Where the expression is device work, its use of them is noted instead.
    """
    if isinstance(node, ast.Call):
        # Which function or module is called may itself have been chosen by a changing value.
        note_use(frame, _known(frame, node.func).sources)
    parts = [_known(frame, part) for part in _parts(node)]
    sources = tested(frame, node.test) if isinstance(node, ast.IfExp) else ()
    if isinstance(node, ast.BoolOp):
        sources = tested(frame, node)
    for part in parts:
        sources = joined_sources(sources, sources_of(part))
    if not sources:
        return value
    if isinstance(node, ast.Call):
        return _through_call(frame, node, value, parts, sources)
    if value.is_device_tensor:
        if not (isinstance(node, ast.Subscript) and _is_host_index(parts[-1])):
            note_use(frame, sources)
        return value
    return value._replace(constant=(), sources=joined_sources(value.sources, sources))


def _is_host_index(index: Value) -> bool:
    """Return whether an index is copied from the host, which is refused."""
    return any(part.kind is Kind.HOST_TENSOR for part in (index, *(index.items or ())))


def _through_call(
    frame: Frame, node: ast.Call, value: Value, parts: list[Value], sources: tuple[Source, ...]
) -> Value:
    callee = _known(frame, node.func)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else chain_text(node.func)
    # What launches one kernel over lists of tensors, in apex and what follows it: the kernel is an
    # argument, so that what the project has under that name tells less.
    is_launch = name.startswith("multi_tensor_")
    if callee.refs and not is_launch:
        # Its parameters carry them on.
        return value
    is_kernel = isinstance(node.func, ast.Subscript) or callee.name.startswith("torch.ops.")
    is_device_work = (
        value.is_device_tensor
        or (is_kernel and any(part.is_device_tensor for part in parts))
        or is_launch
        or (name in _IN_PLACE and parts[0].kind is not Kind.HOST_TENSOR)
    )
    if not is_device_work:
        return value._replace(constant=(), sources=joined_sources(value.sources, sources))
    if name not in _COPIES:
        sources = tuple(one for one in sources if one.mark not in _OF_PINNED)
        note_use(frame, sources)
    elif _may_copy_pinned(node, parts) and (name != "copy_" or parts[0].is_device_tensor):
        note_use(frame, (one for one in sources if one.mark in _OF_PINNED))
    return value


def _may_copy_pinned(node: ast.Call, parts: list[Value]) -> bool:
    """Return whether a copy may be of pinned memory and not wait, so that a graph holds it."""
    if not any(part.pinned for part in parts):
        return False
    flags = [keyword.value for keyword in node.keywords if keyword.arg == "non_blocking"]
    # `copy_(source, True)`: what moves a tensor takes other truths by name alone.
    flags += [given for given in node.args[1:] if _is_true(given)]
    return any(not isinstance(flag, ast.Constant) or flag.value for flag in flags)


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _known(frame: Frame, node: ast.expr) -> Value:
    """Return what a part of a live expression was found to be."""
    return frame.values.get(raw_span(node), _NOTHING)


_NOTHING = Value()


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the expressions whose values the value of `node` is made of."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield node.func.value
        for argument in node.args:
            yield argument.value if isinstance(argument, ast.Starred) else argument
        for keyword in node.keywords:
            yield keyword.value
    elif isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
    elif isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Subscript):
        yield from (node.value, node.slice)
    elif isinstance(node, ast.Attribute):
        yield node.value
    elif isinstance(node, ast.Slice):
        yield from (part for part in (node.lower, node.upper, node.step) if part is not None)


def tested(frame: Frame, node: ast.expr) -> tuple[Source, ...]:
    """Return the changing values that a condition of live code asks for.

    Whether a counter is still at its start is not asked for: after warm-up it never is again.
    """
    if isinstance(node, ast.BoolOp):
        found: tuple[Source, ...] = ()
        for operand in node.values:
            found = joined_sources(found, tested(frame, operand))
        return found
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return tested(frame, node.operand)
    return () if _is_steady(node) else sources_of(_known(frame, node))


def _is_steady(node: ast.expr) -> bool:
    """Return whether a test asks for the start of a counter, or whether there is a value at all."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return False
    right = node.comparators[0]
    if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        return True
    is_chain = isinstance(node.left, (ast.Name, ast.Attribute))
    return is_chain and isinstance(right, ast.Constant) and right.value in (0, 1)


def settle(frame: Frame) -> None:
    """Note of the tests on changing values, once all has been evaluated, which decide device work."""
    for sources, node in frame.decisions:
        arms = [*getattr(node, "body", ()), *getattr(node, "orelse", ())]
        leaves = any(isinstance(part, _JUMPS) for arm in arms for part in ast.walk(arm))
        is_later = leaves and _has_work_after(frame, node.end_lineno or 0)
        if is_later or any(_is_device_work(frame, arm) for arm in arms):
            note_use(frame, sources)


def _has_work_after(frame: Frame, line: int) -> bool:
    return any(span[0] > line and value.is_device_tensor for span, value in frame.values.items())


def _is_device_work(frame: Frame, statement: ast.stmt) -> bool:
    """Return whether a statement gives a name, or the caller, another tensor, or computes one."""
    for node in ast.walk(statement):
        if not isinstance(node, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)):
            continue
        value = node.value
        if value is None or (isinstance(node, ast.Expr) and not isinstance(value, ast.Call)):
            continue
        items = value.elts if isinstance(value, ast.Tuple) else [value]
        if any(_known(frame, item).is_device_tensor for item in items):
            return True
        if not isinstance(node, ast.Expr) and _may_compute(frame, value):
            return True
    return False


def _may_compute(frame: Frame, value: ast.expr) -> bool:
    """Return whether an expression is a call of something unknown that is given a device tensor."""
    if not isinstance(value, ast.Call) or _known(frame, value).kind is not Kind.UNKNOWN:
        return False
    return any(_known(frame, part).is_device_tensor for part in _parts(value))
