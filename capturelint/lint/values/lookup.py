"""What a name or an attribute stands for, whether in the project or outside it."""

from __future__ import annotations

import builtins
import re

from capturelint.kind import HOST, NAMED_HOST_TENSOR, UNKNOWN, Kind, Role, Value
from capturelint.lint.symbols import Symbol
from capturelint.lint.values import tables, tensors
from capturelint.lint.values.frame import Frame
from capturelint.lint.values.join import join_all

_PAIR = ("values", "indices")
_DEBUG_FLAG = re.compile(tables.DEBUG_FLAG)
OFF = Value(Kind.HOST_VALUE, constant=(False,))
_BUILTINS = frozenset(dir(builtins))
_HOST_PACKAGES = frozenset(
    "torch numpy np math os sys re json time random itertools functools collections logging typing "
    "warnings dataclasses enum abc contextlib operator pathlib inspect copy builtins string".split()
)


def name_value(frame: Frame, name: str) -> Value:
    """Return what a bare name stands for: a local, an outer name, a module-level symbol, a builtin."""
    value = frame.env.get(name)
    if value is None:
        fixed = frame.analysis.surroundings.fixed_attribute(name)
        if fixed is not None:
            return fixed
    if value is None:
        value = frame.closure.get(name)
    if value is not None:
        return value
    symbol = frame.analysis.project.resolve(frame.file.module, name)
    if symbol.ref is None and not symbol.name and symbol.constant_of is None:
        if name in _BUILTINS:
            return Value(Kind.HOST_VALUE, name=f"builtins.{name}")
        return OFF if is_debug_flag(name) else UNKNOWN
    return symbol_value(frame, symbol)


def symbol_value(frame: Frame, symbol: Symbol) -> Value:
    """Return the value of a module-level symbol."""
    if symbol.constant_of is not None:
        file, name = symbol.constant_of
        value = frame.analysis.asked.constant(frame, file, name)
        return OFF if not value.constant and is_debug_flag(name) else value
    if symbol.ref is not None:
        # A package's dotted name travels in `name`, which for other symbols stays empty.
        name = symbol.name if symbol.ref.role is Role.PACKAGE else ""
        return Value(Kind.HOST_VALUE, name=name, refs=(symbol.ref,))
    found = outside(frame, symbol.name)
    return found if symbol.stand_in is None else found._replace(refs=(symbol.stand_in,))


def outside(frame: Frame, name: str) -> Value:
    """Return the value of a dotted name from outside the project."""
    if name == "typing.TYPE_CHECKING":
        return OFF
    guard = frame.analysis.surroundings.guard(name)
    if guard is not None and not name.startswith("torch."):
        return Value(Kind.HOST_VALUE, name=name, constant=())
    if is_debug_flag(name.rpartition(".")[2]):
        return OFF
    top = name.partition(".")[0]
    return Value(Kind.HOST_VALUE if top in _HOST_PACKAGES else Kind.UNKNOWN, name=name)


def attribute_value(frame: Frame, receiver: Value, name: str) -> Value:
    """Return `receiver.name`."""
    if receiver.is_tensor:
        own = tensors.attribute(receiver, name)
        # What loaders put on a parameter is known by name alone.
        is_told = own.is_unknown and frame.analysis.surroundings.is_host_name(name)
        return NAMED_HOST_TENSOR if is_told else own
    if receiver.items is not None and len(receiver.items) == 2 and name in _PAIR:
        # What `max`, `topk` and `sort` give is a tuple with names.
        return receiver.items[_PAIR.index(name)]
    surroundings = frame.analysis.surroundings
    fixed = surroundings.fixed_attribute(name)
    if fixed is not None and not surroundings.is_exact_guard(f"{receiver.name}.{name}"):
        return fixed
    if is_debug_flag(name):
        return OFF
    if receiver.refs:
        found = _of_refs(frame, receiver, name)
        if found is not None:
            return found
    elif receiver.name == "@device":
        text = receiver.constant[0] if receiver.constant else "cuda"
        if name == "type":
            return Value(Kind.HOST_VALUE, constant=(str(text).partition(":")[0],))
        return HOST
    elif receiver.kind is not Kind.MODULE and receiver.name and receiver.name[0] != "@":
        return outside(frame, f"{receiver.name}.{name}")
    return _by_convention(frame, receiver, name)


def is_debug_flag(name: str) -> bool:
    """Return whether a constant or setting of this name turns on checks or traces."""
    return name.isupper() and bool(_DEBUG_FLAG.search(name))


def _by_convention(frame: Frame, receiver: Value, name: str) -> Value:
    if name == "training":
        return frame.analysis.surroundings.training
    if name == "device":
        return tensors.DEVICE_OBJECT
    if frame.analysis.surroundings.is_host_name(name):
        return NAMED_HOST_TENSOR
    if receiver.kind is Kind.MODULE:
        return _module_attribute(receiver, name)
    if tables.is_config_name(name):
        return HOST
    if receiver.kind in (Kind.HOST_VALUE, Kind.SHAPE):
        return UNKNOWN if receiver.refs else HOST
    return tensors.attribute(receiver, name)


def _module_attribute(receiver: Value, name: str) -> Value:
    if receiver.name.startswith("torch.nn.") and name in (
        "weight",
        "bias",
        "running_mean",
        "running_var",
    ):
        return Value(Kind.DEVICE_TENSOR, "float", optional=name == "bias")
    if name in ("config", "dtype") or name.endswith(("_config", "_features", "_dim", "_size")):
        return HOST
    return UNKNOWN


def _of_refs(frame: Frame, receiver: Value, name: str) -> Value | None:
    """Return an attribute of project symbols, joined over what the receiver may be."""
    found: list[Value] = []
    for ref in receiver.refs:
        if ref.role is Role.PACKAGE:
            return symbol_value(frame, frame.analysis.project.member(receiver.name, name))
        if ref.role is Role.INSTANCE or ref.role is Role.CLASS:
            one = frame.analysis.attributes.lookup(frame, ref, name)
            if one is not None:
                found.append(one)
    if not found:
        return None
    return join_all(found)
