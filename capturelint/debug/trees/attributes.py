"""Instances that are known by their attributes: which are, and how to read and set them."""

from __future__ import annotations

import struct
import sys
from collections.abc import Mapping
from enum import Enum
from types import MemberDescriptorType
from typing import Any

from torch import Tensor, nn

from capturelint.debug.trees.per_class import once_per_class

_SHARED_BASES = (Enum, nn.Module, Tensor, type)
_SHARED_PACKAGES = frozenset({"numpy", *sys.stdlib_module_names}) - {"__main__", "types"}
_SHARED_MODULES = ("capturelint.debug",)
# The rest of torch is machinery (streams, compilers, process groups) that a copy would break.
_OPEN_TORCH = ("torch.nn", "torch.optim", "torch.amp", "torch.distributions", "torch.return_types")
_POINTER = struct.calcsize("P")
_MANAGED_DICT, _MANAGED_WEAKREF = 1 << 4, 1 << 3  # type flags of CPython 3.11 and 3.12


@once_per_class
def is_plain(cls: type) -> bool:
    """Return whether an instance is known by its attributes, so that it can be taken apart.

    Not so: what holds memory of its own, what frees something when it dies, and what belongs to
    Python, numpy, torch's machinery or this package.
    """
    if cls is object or issubclass(cls, _SHARED_BASES) or hasattr(cls, "__del__"):
        return False
    module = cls.__module__
    if module.partition(".")[0] in _SHARED_PACKAGES or module.startswith(_SHARED_MODULES):
        return False
    if module.partition(".")[0] == "torch" and not module.startswith(_OPEN_TORCH):
        return False
    return cls.__basicsize__ <= _size_of_attributes(cls)


def _size_of_attributes(cls: type) -> int:
    """Return the bytes of an instance that holds nothing but attributes.

    `object.__reduce_ex__` refuses to copy what is larger by the same sum.
    """
    size = object.__basicsize__ + _POINTER * len(_slots(cls))
    if cls.__dictoffset__ and not cls.__flags__ & _MANAGED_DICT:
        size += _POINTER
    if cls.__weakrefoffset__ and not cls.__flags__ & _MANAGED_WEAKREF:
        size += _POINTER
    return size


@once_per_class
def _slots(cls: type) -> tuple[tuple[str, MemberDescriptorType], ...]:
    return tuple(
        (name, member)
        for base in cls.__mro__
        if "__slots__" in vars(base)
        for name, member in vars(base).items()
        if isinstance(member, MemberDescriptorType)
    )


def attributes(value: object) -> dict[str, object]:
    """Return the attributes that an instance holds itself, without running code of its class."""
    held = dict(_own_dict(value) or {})
    for name, member in _slots(type(value)):
        try:
            held[name] = member.__get__(value)
        except AttributeError:
            continue
    return held


def attribute(value: object, name: str) -> object:
    """Return one attribute that an instance holds itself. Raises AttributeError or KeyError."""
    for slot, member in _slots(type(value)):
        if slot == name:
            return member.__get__(value)
    return (_own_dict(value) or {})[name]


def set_attributes(value: object, held: Mapping[str, object]) -> None:
    """Make an instance hold these attributes and no others."""
    own = _own_dict(value)
    slots = dict(_slots(type(value)))
    for name, member in slots.items():
        if name in held:
            member.__set__(value, held[name])
            continue
        try:
            member.__delete__(value)
        except AttributeError:
            continue
    if own is not None:
        own.clear()
        own.update({name: item for name, item in held.items() if name not in slots})


def _own_dict(value: object) -> dict[str, Any] | None:
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return own if isinstance(own, dict) else None
