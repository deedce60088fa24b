"""What kinds of objects state may be in, and lead on to more of it."""

from __future__ import annotations

from enum import Enum, auto
from functools import partial
from types import FunctionType, MethodType, ModuleType

from torch import Tensor, nn

from capturelint.debug.states.host_random import is_generator
from capturelint.debug.trees.attributes import is_plain
from capturelint.debug.trees.containers import container_of
from capturelint.debug.trees.memory import is_array
from capturelint.debug.trees.per_class import once_per_class


class Kind(Enum):
    """How an object is to be watched."""

    SCALAR = auto()  # a value that cannot change
    TENSOR = auto()
    ARRAY = auto()
    GENERATOR = auto()
    MODULE = auto()
    CONTAINER = auto()
    OBJECT = auto()
    FUNCTION = auto()
    METHOD = auto()
    PARTIAL = auto()
    CLASS = auto()
    FILE = auto()
    OTHER = auto()  # known by its identity only


DATA = frozenset(
    {
        Kind.SCALAR,
        Kind.TENSOR,
        Kind.ARRAY,
        Kind.GENERATOR,
        Kind.MODULE,
        Kind.CONTAINER,
        Kind.OBJECT,
    }
)
_BY_BASE: tuple[tuple[type, Kind], ...] = (
    (Tensor, Kind.TENSOR),
    (nn.Module, Kind.MODULE),
    (Enum, Kind.SCALAR),
    (FunctionType, Kind.FUNCTION),
    (MethodType, Kind.METHOD),
    (partial, Kind.PARTIAL),
    (type, Kind.CLASS),
    (ModuleType, Kind.FILE),
)
_SCALARS = frozenset({bool, int, float, complex, str, bytes, type(None)})


@once_per_class
def kind_of(cls: type) -> Kind:
    """Return the kind of the instances of `cls`."""
    if cls in _SCALARS:
        return Kind.SCALAR
    for base, kind in _BY_BASE:
        if issubclass(cls, base):
            return kind
    if is_array(cls):
        return Kind.ARRAY
    if is_generator(cls):
        return Kind.GENERATOR
    if container_of(cls) is not None:
        return Kind.CONTAINER
    return Kind.OBJECT if is_plain(cls) else Kind.OTHER
