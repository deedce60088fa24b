"""The least that is true of two values at once."""

from __future__ import annotations

from capturelint.kind import HOST, UNKNOWN, Kind, Ref, Source, Value

_DEEPEST = 3
# The name of a context manager that captures: what `torch.cuda.graph(...)` gives.
GRAPH = "@graph"
GRAPH_CONTEXT = Value(Kind.HOST_VALUE, name=GRAPH)
# What a function gives to itself, before it is known what it gives.
UNFINISHED = Value(name="@unfinished")
_MOST_REFS = 40
_MOST_SOURCES = 4
_HOST_LIKE = (Kind.HOST_VALUE, Kind.SHAPE)


def join(left: Value, right: Value, depth: int = 0) -> Value:
    """Return the value that either may be: unknown where they disagree."""
    if left is right or left == right:
        return left
    if left is UNFINISHED or right is UNFINISHED:
        return right if left is UNFINISHED else left
    if left.is_none:
        return right if right.optional else right._replace(optional=True)
    if right.is_none:
        return left if left.optional else left._replace(optional=True)
    if left.kind is not right.kind:
        joined = _join_kinds(left, right, depth)
        sources = joined_sources(left.sources, right.sources)
        return joined._replace(sources=sources) if sources else joined
    return Value(
        left.kind,
        left.dtype if left.dtype == right.dtype else "",
        left.rank if left.rank == right.rank else -1,
        left.constant if left.constant == right.constant else (),
        left.name if left.name == right.name else _shared_name(left, right),
        joined_refs(left.refs, right.refs),
        _join_items(left.items, right.items, depth),
        _join_elements(left, right, depth),
        max(left.pinned, right.pinned),
        left.varies or right.varies,
        left.weak and right.weak,
        left.optional or right.optional,
        joined_sources(left.sources, right.sources),
        left.mixed or right.mixed,
    )


def join_passed(known: Value, passed: Value) -> Value:
    """Return what a parameter is when one caller gave `known` and another `passed`.

    A caller that is known to pass a device tensor outweighs callers of which nothing is known:
    the code below really runs with a tensor.
    """
    if known.is_unknown:
        return passed
    if passed.is_unknown:
        return known
    return join(known, passed)


def join_all(values: list[Value] | tuple[Value, ...]) -> Value:
    """Return the join of all values; `UNKNOWN` of none."""
    if not values:
        return UNKNOWN
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    return result


def iterated(value: Value) -> Value:
    """Return what iterating a value gives: of a mapping its keys, which are Python values."""
    return HOST if value.name == "@dict" else element_of(value)


def mapping(element: Value | None) -> Value:
    """Return a dict whose values are `element`; None for an empty one."""
    filled = sequence((), None) if element is None else sequence(None, element)
    return filled._replace(name="@dict")


def element_of(value: Value) -> Value:
    """Return what subscripting a value by an unknown index or key gives."""
    if value.kind is Kind.DEVICE_TENSOR or value.kind is Kind.HOST_TENSOR:
        rank = value.rank - 1 if value.rank > 0 else -1
        return Value(value.kind, value.dtype, rank, weak=value.weak, pinned=value.pinned)
    if value.items is not None:
        return _held(join_all(value.items)) if value.items else (value.element or UNKNOWN)
    if value.element is not None:
        return value.element
    if value.kind is Kind.SHAPE:
        return Value(Kind.SHAPE, "int", 0)
    if value.kind is Kind.HOST_VALUE and not value.refs:
        return HOST
    return UNKNOWN


def sequence(items: tuple[Value, ...] | None, element: Value | None = None) -> Value:
    """Return a list or tuple of values, cut where it nests deeper than matters."""
    if items is not None:
        items = tuple(_cut(item, 0) for item in items)
    return Value(
        Kind.HOST_VALUE, items=items, element=None if element is None else _cut(_held(element), 0)
    )


def joined_refs(left: tuple[Ref, ...], right: tuple[Ref, ...]) -> tuple[Ref, ...]:
    """Return both sets of symbols, each once, up to a limit."""
    if left == right or not right:
        return left
    if not left:
        return right
    return tuple(dict.fromkeys(left + right))[:_MOST_REFS]


def joined_sources(left: tuple[Source, ...], right: tuple[Source, ...]) -> tuple[Source, ...]:
    """Return the places that either value was made of, each once, up to a limit."""
    if left == right or not right:
        return left
    return tuple(dict.fromkeys(left + right))[:_MOST_SOURCES]


def _shared_name(left: Value, right: Value) -> str:
    """Return the name of two values of one kind: an empty literal takes that of the other.

    So does a context that captures on one way to here.
    """
    if GRAPH in (left.name, right.name):
        return GRAPH
    return "@dict" if "@dict" in (left.name, right.name) else ""


def _is_plain(value: Value) -> bool:
    """Return whether a value is a number or a truth, as far as is known."""
    if value.kind not in _HOST_LIKE or value.refs or value.name or value.element is not None:
        return False
    return value.items is None and isinstance(
        value.constant[0] if value.constant else 0, int | float
    )


def _join_kinds(left: Value, right: Value, depth: int) -> Value:
    for tensor, other in ((left, right), (right, left)):
        if tensor.is_device_tensor and _is_plain(other):
            # The way on which it is a tensor is there, and what follows waits on it.
            return tensor._replace(
                mixed=True,
                optional=tensor.optional or other.optional,
                sources=joined_sources(tensor.sources, other.sources),
            )
    if GRAPH in (left.name, right.name):
        return left if left.name == GRAPH else right
    refs = joined_refs(left.refs, right.refs)
    if left.kind in _HOST_LIKE and right.kind in _HOST_LIKE:
        return Value(Kind.HOST_VALUE, element=_join_elements(left, right, depth), refs=refs)
    if left.kind is Kind.UNKNOWN or right.kind is Kind.UNKNOWN:
        return Value(refs=refs)
    if Kind.MODULE in (left.kind, right.kind) and refs:
        return Value(Kind.MODULE, refs=refs, element=_join_elements(left, right, depth))
    return Value(refs=refs)


def _join_items(
    left: tuple[Value, ...] | None, right: tuple[Value, ...] | None, depth: int
) -> tuple[Value, ...] | None:
    if left is None or right is None or len(left) != len(right) or depth >= _DEEPEST:
        return None
    return tuple(join(a, b, depth + 1) for a, b in zip(left, right, strict=True))


def _join_elements(left: Value, right: Value, depth: int) -> Value | None:
    if depth >= _DEEPEST:
        return None
    if left.items is not None and right.items is not None and len(left.items) == len(right.items):
        return None
    first = _own_element(left)
    second = _own_element(right)
    if first is None or second is None:
        return first if second is None else second
    return _held(join(first, second, depth + 1))


def _held(value: Value) -> Value:
    """Return what a container holds: of tensors beside numbers nobody knows which one is meant."""
    return Value(refs=value.refs) if value.mixed else value


def _own_element(value: Value) -> Value | None:
    if value.items:
        return _held(join_all(value.items))
    return value.element


def _cut(value: Value, depth: int) -> Value:
    if value.items is None and value.element is None:
        return value
    if depth >= _DEEPEST:
        return value._replace(items=None, element=None)
    items = value.items
    if items is not None:
        items = tuple(_cut(item, depth + 1) for item in items)
    element = value.element if value.element is None else _cut(value.element, depth + 1)
    return value._replace(items=items, element=element)
