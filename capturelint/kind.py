"""What is known of a value without running the code: its kind, dtype, rank and what it refers to."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import NamedTuple


class Kind(Enum):
    """Where a value lives. Only a device tensor can make the host wait."""

    DEVICE_TENSOR = "device tensor"
    HOST_TENSOR = "host tensor"
    HOST_VALUE = "host value"
    SHAPE = "shape-like"
    MODULE = "module"
    UNKNOWN = "unknown"


class Role(IntEnum):
    """How a project symbol is held: the class itself, an instance of it, a function, a bound method.

    A mode of an engine is one too: of what is captured, `at` counts the modes of all presets.
    Integers, since references are hashed by the million.
    """

    CLASS = 1
    INSTANCE = 2
    FUNCTION = 3
    METHOD = 4
    PACKAGE = 5
    MODE = 6


class Pinned(IntEnum):
    """Whether a tensor of the host may lie in page-locked memory, by what makes it."""

    NO = 0
    UNTOLD = 1  # its name alone says that it lives on the host
    YES = 2


class Mark(Enum):
    """What a place in captured code does that a replay does not do again, where that matters."""

    COUNTER = "it changes a Python value that device work of later calls uses"
    RANDOM = "it draws a number on the host that device work uses"
    CLOCK = "it reads the time or the state of the machine, which device work uses"
    PINNED = "it makes pinned memory that a copy in the graph reads"
    WRITTEN = "it writes pinned memory that a copy in the graph reads"
    REBOUND = "it puts a new tensor in an attribute, which the next call reads"
    MOVED = "it moves what an attribute holds to the device, in the first call if at all"
    RETAINED = "it keeps an argument in an attribute, which the next call reads"
    FIRST_VALUE = "it keeps what the first call was given, which later work reads"
    GROWN = "it makes a container or a tensor longer, which the next call reads"
    UNFORKED = "it enters a stream that nothing around it has wait for the capturing one"


class Source(NamedTuple):
    """A place that gives another value in each call: in which function of the project, and where.

    `span` is in Python's own coordinates, in the tree of that function alone.
    """

    mark: Mark
    function: int
    span: tuple[int, int, int, int]


class Ref(NamedTuple):
    """A symbol of the checked project. `at` is its index there. `owner` is a method's class, else -1."""

    role: Role
    at: int
    owner: int = -1


class Value(NamedTuple):
    """One value, as far as the source tells.

    `dtype` is "bool", "int", "float" or "" for not known; `rank` is the number of dimensions or -1.
    `constant` holds a Python constant in a 1-tuple, or () when there is none.
    `name` is the dotted name of something outside the project, such as `torch.nn.functional.relu`
    (the object itself) or, of a MODULE, the class it is an instance of.
    `items` are the values of a tuple or list literal in order; `element` is what iterating gives.
    `pinned` and `varies` are about host tensors, and arrays over them: whether they may be
    page-locked; changes from call to call.
    `sources` are the places whose changing values a host value was made of.
    `weak` marks a device tensor that is only supposed to be one from how the code uses it;
    `optional` one that may be None, `mixed` one that is a plain number on another way to here.
    """

    kind: Kind = Kind.UNKNOWN
    dtype: str = ""
    rank: int = -1
    constant: tuple[object, ...] = ()
    name: str = ""
    refs: tuple[Ref, ...] = ()
    items: tuple[Value, ...] | None = None
    element: Value | None = None
    pinned: Pinned = Pinned.NO
    varies: bool = False
    weak: bool = False
    optional: bool = False
    sources: tuple[Source, ...] = ()
    mixed: bool = False

    @property
    def is_device_tensor(self) -> bool:
        """True when the value is known to be a tensor on the device."""
        return self.kind is Kind.DEVICE_TENSOR

    @property
    def is_tensor(self) -> bool:
        """True when the value is known to be a tensor, wherever it lives."""
        return self.kind is Kind.DEVICE_TENSOR or self.kind is Kind.HOST_TENSOR

    @property
    def is_host(self) -> bool:
        """True when reading the value costs no wait: a Python value, a shape or a host tensor."""
        return self.kind in (Kind.HOST_VALUE, Kind.SHAPE, Kind.HOST_TENSOR)

    @property
    def is_unknown(self) -> bool:
        """True when nothing is known of the value, not even what it may refer to."""
        return self.kind is Kind.UNKNOWN and not self.refs

    @property
    def is_none(self) -> bool:
        """True when the value is the constant None."""
        return self.constant == (None,)


UNKNOWN = Value()
DEVICE = Value(Kind.DEVICE_TENSOR)
HOST_TENSOR = Value(Kind.HOST_TENSOR)
# That it lives on the host is told by its name alone.
NAMED_HOST_TENSOR = Value(Kind.HOST_TENSOR, pinned=Pinned.UNTOLD)
HOST = Value(Kind.HOST_VALUE)
SHAPE = Value(Kind.SHAPE, "int")
MODULE = Value(Kind.MODULE)
NONE = Value(Kind.HOST_VALUE, constant=(None,))
