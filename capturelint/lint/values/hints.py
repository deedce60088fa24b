"""What a type annotation says of a value."""

from __future__ import annotations

import ast
import functools

from capturelint.kind import (
    DEVICE,
    HOST,
    MODULE,
    NONE,
    SHAPE,
    UNKNOWN,
    Kind,
    Ref,
    Role,
    Value,
)
from capturelint.lint.project import Project
from capturelint.lint.symbols import Symbol
from capturelint.lint.values import tables
from capturelint.lint.values.join import join, mapping, sequence
from capturelint.names import dotted

_TENSORS = {"Tensor": "", **tables.LEGACY_TENSORS}
_HOSTS = frozenset(
    "int float bool str bytes complex Number Any_ dtype device layout memory_format ndarray Path "
    "PretrainedConfig PreTrainedConfig Namespace finfo iinfo".split()
)
_SEQUENCES = frozenset(
    "list List Sequence Iterable Iterator Generator set Set frozenset FrozenSet deque Collection "
    "MutableSequence KeysView ValuesView Deque AsyncIterator".split()
)
_MAPPINGS = frozenset(
    "dict Dict Mapping MutableMapping OrderedDict defaultdict DefaultDict".split()
)
_WRAPPERS = frozenset("Annotated Final ClassVar Required NotRequired Unpack Ref".split())
_JAXTYPED = frozenset("Float Int Bool Shaped Num Integer Real Complex Inexact UInt Key".split())


def value_of(node: ast.expr | None, project: Project, module: str) -> Value:
    """Return what the annotation `node`, written in `module`, says; `UNKNOWN` if not enough."""
    if node is None:
        return UNKNOWN
    if isinstance(node, ast.Constant):
        if node.value is None:
            return NONE
        return (
            value_of(_parsed(node.value), project, module)
            if isinstance(node.value, str)
            else UNKNOWN
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union(value_of(node.left, project, module), value_of(node.right, project, module))
    if isinstance(node, ast.Subscript):
        return _subscripted(node, project, module)
    name = dotted(node)
    return _named(name, project, module) if name else UNKNOWN


def value_of_text(text: str, project: Project, module: str) -> Value:
    """Return what an annotation given as source text says."""
    return value_of(_parsed(text), project, module)


@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _named(name: str, project: Project, module: str) -> Value:
    said = _known(name)
    if said is not None:
        return said
    key = (module, name)
    known = project.hints.get(key)
    if known is not None:
        if key in project.aliases[:-1]:
            project.is_circular = True
        return known
    # An alias may be defined by way of itself.
    project.hints[key] = UNKNOWN
    project.aliases.append(key)
    try:
        known = project.hints[key] = _instance(project.resolve(module, name), project)
    finally:
        project.aliases.pop()
    return known


@functools.lru_cache(maxsize=4096)
def _known(name: str) -> Value | None:
    """Return what a name says in any module, by its last part."""
    last = name.rpartition(".")[2]
    if last in _TENSORS:
        dtype = _TENSORS[last]
        return Value(Kind.DEVICE_TENSOR, dtype) if dtype else DEVICE
    if last in ("Parameter", "Buffer", "UninitializedParameter"):
        return DEVICE
    if last == "device":
        return Value(Kind.HOST_VALUE, name="@device")
    if last in _HOSTS:
        return HOST
    if last == "Size":
        return SHAPE
    if last in _MAPPINGS:
        return mapping(UNKNOWN)
    if last in _SEQUENCES or last in ("tuple", "Tuple"):
        return sequence(None, UNKNOWN)
    return None


def _instance(symbol: Symbol, project: Project) -> Value:
    ref = symbol.ref
    if ref is not None and ref.role is Role.CLASS:
        kind = Kind.MODULE if project.is_module(ref.at) else Kind.HOST_VALUE
        return Value(kind, refs=(Ref(Role.INSTANCE, ref.at),))
    if symbol.constant_of is not None:
        file, name = symbol.constant_of
        return _alias(file.assigns[name], project, file.module)
    if symbol.name.startswith("torch.nn.") and symbol.name.count(".") >= 2:
        return Value(Kind.MODULE, name=symbol.name)
    if symbol.name.startswith(("torch.cuda.", "torch.distributed.")):
        return Value(Kind.HOST_VALUE, name=symbol.name)
    return MODULE if symbol.name in ("torch.nn.Module",) else UNKNOWN


def _alias(text: str, project: Project, module: str) -> Value:
    """Return what a module-level type alias such as `Mask = Tensor | None` says."""
    node = _parsed(text) if text and len(text) < 200 else None
    if node is None or isinstance(node, (ast.Constant, ast.Call)):
        return UNKNOWN
    if isinstance(node, (ast.Name, ast.Attribute)) and not any(map(str.isupper, dotted(node)[-1:])):
        name = dotted(node)
        if name.rpartition(".")[2] not in _TENSORS:
            return UNKNOWN
    return value_of(node, project, module)


def _subscripted(node: ast.Subscript, project: Project, module: str) -> Value:
    head = dotted(node.value).rpartition(".")[2]
    inner = node.slice
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if head == "Optional":
        return _union(value_of(inner, project, module), NONE)
    if head == "Union":
        result = value_of(parts[0], project, module)
        for part in parts[1:]:
            result = _union(result, value_of(part, project, module))
        return result
    if head in _WRAPPERS or head in _JAXTYPED:
        return value_of(parts[0], project, module)
    if head == "Literal":
        return HOST
    if head in ("tuple", "Tuple"):
        if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is Ellipsis:
            return sequence(None, value_of(parts[0], project, module))
        return sequence(tuple(value_of(part, project, module) for part in parts))
    if head in _SEQUENCES:
        return sequence(None, value_of(parts[0], project, module))
    if head in _MAPPINGS:
        return mapping(value_of(parts[-1], project, module))
    if head in ("type", "Type", "Callable"):
        return UNKNOWN
    return value_of(node.value, project, module)


def _union(left: Value, right: Value) -> Value:
    for one, other in ((left, right), (right, left)):
        if one.is_unknown and not other.is_none:
            # Of what may be a tensor or a number, one more kind of number changes nothing.
            return one
    if left.is_tensor and right.kind in (Kind.HOST_VALUE, Kind.SHAPE) and not right.is_none:
        return Value(Kind.UNKNOWN, optional=True)
    if right.is_tensor and left.kind in (Kind.HOST_VALUE, Kind.SHAPE) and not left.is_none:
        return Value(Kind.UNKNOWN, optional=True)
    return join(left, right)
