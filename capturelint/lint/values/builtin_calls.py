"""What Python's builtins and the methods of its containers give."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from capturelint.kind import HOST, NONE, UNKNOWN, Kind, Value
from capturelint.lint.values import narrowing
from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.frame import Frame, chain_text
from capturelint.lint.values.join import element_of, iterated, join, join_all, mapping, sequence
from capturelint.lint.values.lookup import OFF, attribute_value
from capturelint.rule import Trait

_COPIES = frozenset(
    "list tuple set frozenset sorted reversed iter islice cycle chain deque".split()
)
_FORMATTERS = frozenset("print str repr format".split())


def evaluate(
    frame: Frame,
    name: str,
    args: Sequence[Value],
    keywords: Mapping[str, Value],
    node: ast.Call,
) -> Value:
    """Return what the builtin (or itertools function) `name` gives."""
    if not args:
        return _empty(name, keywords)
    if name in _FORMATTERS and any(arg.is_device_tensor for arg in args):
        frame.note(Trait.TENSOR_FORMAT)
    if name in _COPIES:
        return _copied(frame, name, args)
    if name in ("getattr", "setattr", "isinstance", "map", "filter", "starmap"):
        return _looked_up(frame, name, args, node)
    return _computed(name, args, keywords)


def _computed(name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """Return what a builtin gives whose result rests on its arguments alone."""
    first = args[0]
    if name in ("bool", "int") and first.constant in ((True,), (False,)):
        return first
    if name == "len":
        return Value(Kind.SHAPE, "int", 0)
    if name == "range":
        return Value(Kind.HOST_VALUE, element=Value(Kind.SHAPE, "int", 0))
    if name in ("enumerate", "pairwise"):
        first_part = HOST if name == "enumerate" else iterated(first)
        return sequence(None, sequence((first_part, iterated(first))))
    if name in ("zip", "zip_longest", "product"):
        return sequence(None, sequence(tuple(iterated(arg) for arg in args)))
    if name in ("max", "min", "sum", "abs", "round", "pow", "divmod", "next"):
        return _reduced(name, args)
    if name in ("dict", "OrderedDict"):
        return mapping(join_all([_pair_value(first), *keywords.values()]))
    if name == "defaultdict":
        return mapping(None)
    return UNKNOWN if name in ("slice", "vars", "super", "object", "property") else HOST


def _pair_value(source: Value) -> Value:
    """Return the values of a dict made of a mapping or of pairs."""
    element = element_of(source)
    is_pair = source.name != "@dict" and element.items is not None and len(element.items) == 2
    return element.items[1] if is_pair and element.items else element


def _looked_up(frame: Frame, name: str, args: Sequence[Value], node: ast.Call) -> Value:
    """Return what a builtin gives that asks for more than its arguments."""
    if name == "getattr":
        return _getattr(frame, args)
    if name == "isinstance":
        return _isinstance(frame, args[0], node)
    if name == "setattr":
        _setattr(frame, args, node)
        return NONE
    return _mapped(frame, name, args, node)


def container_method(
    frame: Frame, receiver: Value, name: str, args: Sequence[Value], node: ast.Call
) -> Value:
    """Return what a method of a list, dict, string or other Python value gives, and what it changes."""
    key = chain_text(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    if receiver == OFF and name in ("get", "lower", "strip"):
        return OFF
    if name in ("append", "add", "appendleft") and args:
        grow(frame, key, args[0])
        return NONE
    if name in ("extend", "update") and args:
        grow(frame, key, element_of(args[0]))
        return NONE
    if name == "insert" and len(args) > 1:
        grow(frame, key, args[1])
        return NONE
    if receiver.items is None and receiver.element is None:
        if receiver.name in ("torch.cuda.Stream", "torch.cuda.Event") or receiver.constant:
            return HOST
        return UNKNOWN if name in ("get", "pop", "setdefault", "copy") else HOST
    if name in ("values", "copy"):
        return sequence(None, element_of(receiver)) if name == "values" else receiver
    if name == "items":
        return sequence(None, sequence((HOST, element_of(receiver))))
    if name == "keys":
        return sequence(None, HOST)
    if name in ("get", "pop", "setdefault", "popleft"):
        found = element_of(receiver)
        return join(found, args[1]) if name == "get" and len(args) > 1 else found
    return HOST


def _empty(name: str, keywords: Mapping[str, Value]) -> Value:
    """Return what a builtin called without positional arguments gives."""
    if name in ("dict", "OrderedDict", "defaultdict"):
        return mapping(join_all([*keywords.values()]) if keywords else None)
    return sequence(()) if name in ("list", "tuple", "set") else HOST


def _copied(frame: Frame, name: str, args: Sequence[Value]) -> Value:
    first = args[0]
    if first.is_device_tensor:
        frame.note(Trait.TENSOR_ITERATION)
    if name == "chain":
        return sequence(None, join_all([iterated(arg) for arg in args]))
    if first.items is not None and name in ("list", "tuple"):
        return first
    return sequence(None, iterated(first))


def _reduced(name: str, args: Sequence[Value]) -> Value:
    first = args[0]
    if name in ("abs", "round", "pow"):
        return first if first.is_tensor else HOST if first.is_host else UNKNOWN
    if name == "divmod":
        return sequence((first, first)) if first.is_tensor else HOST
    if name == "next":
        return iterated(first)
    candidates = list(args) if len(args) > 1 and name != "sum" else [iterated(first)]
    for value in candidates:
        if value.is_device_tensor:
            return Value(Kind.DEVICE_TENSOR, value.dtype)
    return HOST if all(value.is_host for value in candidates) else UNKNOWN


def _getattr(frame: Frame, args: Sequence[Value]) -> Value:
    if len(args) < 2:
        return UNKNOWN
    name = args[1].constant[0] if args[1].constant else "*"
    found = attribute_value(frame, args[0], str(name))
    if name == "*" and not found.refs and found.kind is not Kind.MODULE:
        return UNKNOWN
    return join(found, args[2]) if len(args) > 2 else found


def _setattr(frame: Frame, args: Sequence[Value], node: ast.Call) -> None:
    if len(args) < 3 or chain_text(node.args[0]) != frame.self_name:
        return
    name = args[1].constant[0] if args[1].constant else "*"
    frame.store(str(name), args[2])


def _isinstance(frame: Frame, value: Value, node: ast.Call) -> Value:
    if len(node.args) < 2:
        return HOST
    with frame.dormant():
        wanted = narrowing.class_value(frame, node.args[1])
    is_open = value.weak or value.optional or value.mixed
    if is_open or wanted.kind is Kind.UNKNOWN or value.kind is Kind.UNKNOWN:
        return HOST
    if wanted.kind is Kind.DEVICE_TENSOR:
        return is_tensor(value)
    if value.is_tensor and wanted.kind in (Kind.HOST_VALUE, Kind.MODULE):
        return Value(Kind.HOST_VALUE, constant=(False,))
    return HOST


def is_tensor(value: Value) -> Value:
    """Return the answer to `isinstance(value, torch.Tensor)`, where it is certain."""
    is_open = value.weak or value.optional or value.mixed
    if is_open or value.refs or value.kind is Kind.UNKNOWN:
        return HOST
    is_plain = value.kind is Kind.SHAPE or bool(value.constant) or value.items is not None
    if value.is_tensor or is_plain or value.element is not None:
        return Value(Kind.HOST_VALUE, constant=(value.is_tensor,))
    return HOST


def _mapped(frame: Frame, name: str, args: Sequence[Value], node: ast.Call) -> Value:
    if len(args) < 2:
        return UNKNOWN
    if name == "filter":
        return sequence(None, iterated(args[1]))
    passed = Arguments(tuple(iterated(arg) for arg in args[1:]))
    results = [frame.analysis.asked.call(frame, ref, passed, node) for ref in args[0].refs]
    if not results and args[0].name in ("builtins.int", "builtins.float"):
        return sequence(None, HOST)
    return sequence(None, join_all(results) if results else UNKNOWN)


def grow(frame: Frame, key: str, value: Value) -> None:
    """Note that a container now holds `value` too."""
    if not key:
        return
    if frame.self_name and key.startswith(frame.self_name + ".") and key.count(".") == 1:
        frame.store(key.partition(".")[2], sequence(None, value))
    known = frame.env.get(key)
    if known is None:
        return
    is_empty = known.items is not None and not known.items and known.element is None
    element = value if is_empty else join(element_of(known), value)
    if known.items is None and known.element is None:
        element = value
    grown = sequence(None, element)
    frame.env[key] = grown._replace(kind=known.kind, name=known.name, refs=known.refs)
