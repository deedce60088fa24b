"""Where Python keeps what a call may change: attributes, items, closures, defaults, globals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import is_
from types import CellType, FunctionType
from typing import Any, Protocol

from torch import nn

from capturelint.debug.states.kinds import DATA, kind_of
from capturelint.debug.trees.attributes import attribute, attributes, set_attributes
from capturelint.debug.trees.containers import Container

_MISSING = object()
# What `nn.Module` keeps for itself. Hooks come and go with whoever watches a call.
_MEMBERS = ("_parameters", "_buffers", "_modules")
_MACHINERY = frozenset({*vars(nn.Module()), "_compiled_call_impl"}) - {"training"}


class Section(Protocol):
    """One of the places where an object keeps others, by key."""

    def read(self, owner: Any) -> dict[Any, object]:
        """Return what is kept there, in a new dict."""

    def get(self, owner: Any, key: Any) -> object:
        """Return one thing kept there. Raises `LookupError` or `AttributeError`."""

    def write(self, owner: Any, kept: Mapping[Any, object]) -> None:
        """Make it keep this and nothing else."""

    def name(self, path: str, key: Any) -> str:
        """Return what a report calls the thing at `key` of the owner at `path`."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of a plain object or of a container."""

    def read(self, owner: Any) -> dict[Any, object]:
        return attributes(owner)

    def get(self, owner: Any, key: Any) -> object:
        return attribute(owner, key)

    def write(self, owner: Any, kept: Mapping[Any, object]) -> None:
        if not _is_same(attributes(owner), kept):
            set_attributes(owner, kept)

    def name(self, path: str, key: Any) -> str:
        return dotted(path, key)


@dataclass(frozen=True, slots=True)
class ModuleAttributes:
    """The attributes of a module, without torch's own."""

    def read(self, owner: Any) -> dict[Any, object]:
        return {name: value for name, value in vars(owner).items() if name not in _MACHINERY}

    def get(self, owner: Any, key: Any) -> object:
        return vars(owner)[key]

    def write(self, owner: Any, kept: Mapping[Any, object]) -> None:
        _rewrite(vars(owner), kept, self.read(owner))

    def name(self, path: str, key: Any) -> str:
        return dotted(path, key)


@dataclass(frozen=True, slots=True)
class Members:
    """The parameters, buffers or submodules of a module. `kind`: the attribute that has them."""

    kind: str

    def read(self, owner: Any) -> dict[Any, object]:
        return dict(self._held(owner))

    def get(self, owner: Any, key: Any) -> object:
        return self._held(owner)[key]

    def write(self, owner: Any, kept: Mapping[Any, object]) -> None:
        held = self._held(owner)
        if not _is_same(held, kept):
            held.clear()
            held.update(kept)

    def name(self, path: str, key: Any) -> str:
        return dotted(path, key)

    def _held(self, owner: Any) -> dict[Any, Any]:
        held = vars(owner).get(self.kind)  # a scripted module keeps them elsewhere
        return held if isinstance(held, dict) else {}


@dataclass(frozen=True, slots=True)
class Items:
    """What a container holds."""

    container: Container

    def read(self, owner: Any) -> dict[Any, object]:
        return self.container.items(owner)

    def get(self, owner: Any, key: Any) -> object:
        return self.container.item(owner, key)

    def write(self, owner: Any, kept: Mapping[Any, object]) -> None:
        if not self.container.is_mutable:
            return
        is_same = _is_same if self.container.has_keys else _holds_same
        if not is_same(self.read(owner), kept):
            self.container.fill(owner, kept)

    def name(self, path: str, key: Any) -> str:
        return f"{path}[{key!r}]"


@dataclass(frozen=True, slots=True)
class Cell:
    """What a variable of an enclosing function holds. `variable`, `function`: their names."""

    variable: str
    function: str

    def read(self, owner: CellType) -> dict[Any, object]:
        try:
            return {self.variable: owner.cell_contents}
        except ValueError:  # empty
            return {}

    def get(self, owner: CellType, key: Any) -> object:
        return self.read(owner)[key]

    def write(self, owner: CellType, kept: Mapping[Any, object]) -> None:
        if self.variable in kept:
            owner.cell_contents = kept[self.variable]
        elif self.read(owner):
            del owner.cell_contents

    def name(self, path: str, key: Any) -> str:  # noqa: ARG002 - a variable has its own name
        return f"nonlocal {key} of {self.function}"


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the default arguments of a function are."""

    def read(self, owner: FunctionType) -> dict[Any, object]:
        code, values = owner.__code__, owner.__defaults__ or ()
        names = code.co_varnames[: code.co_argcount]
        positional = dict(zip(names[len(names) - len(values) :], values, strict=True))
        return {**positional, **(owner.__kwdefaults__ or {})}

    def get(self, owner: FunctionType, key: Any) -> object:
        return self.read(owner)[key]

    def write(self, owner: FunctionType, kept: Mapping[Any, object]) -> None:
        """Leave the defaults: what a call changes is in them, and they are watched themselves."""

    def name(self, path: str, key: Any) -> str:
        return f"default {key} of {path}"


class Namespace:
    """The variables of one class or file that hold data, such as `Model.calls`, `global step`."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        # Most are functions and classes and stay so: while there are as many, only those that
        # held data are looked at.
        self._size = -1
        self._names: list[str] = []

    def read(self, owner: Any) -> dict[Any, object]:
        held = owner if isinstance(owner, dict) else vars(owner)
        if len(held) != self._size:
            self._size = len(held)
            names = [name for name in list(held) if not name.startswith("__")]
            self._names = [name for name in names if kind_of(type(held[name])) in DATA]
        return {
            name: held[name]
            for name in self._names
            if name in held and kind_of(type(held[name])) in DATA
        }

    def get(self, owner: Any, key: Any) -> object:
        return owner[key] if isinstance(owner, dict) else vars(owner)[key]

    def write(self, owner: Any, kept: Mapping[Any, object]) -> None:
        now = self.read(owner)
        if isinstance(owner, dict):
            _rewrite(owner, kept, now)
            return
        for name in now.keys() - kept.keys():
            delattr(owner, name)
        for name, value in kept.items():
            if now.get(name, _MISSING) is not value:
                setattr(owner, name, value)

    def name(self, path: str, key: Any) -> str:
        return f"{self._prefix}{key}" if self._prefix else dotted(path, key)


ATTRIBUTES = Attributes()
MODULE: tuple[Section, ...] = (ModuleAttributes(), *(Members(kind) for kind in _MEMBERS))


def dotted(path: str, name: str) -> str:
    """Return the path of an attribute."""
    return f"{path}.{name}" if path else name


def _is_same(now: Mapping[Any, object], kept: Mapping[Any, object]) -> bool:
    """Return whether both hold the same objects in the same order, under the same keys."""
    return _holds_same(now, kept) and all(map(is_, now, kept))


def _holds_same(now: Mapping[Any, object], kept: Mapping[Any, object]) -> bool:
    return len(now) == len(kept) and all(map(is_, now.values(), kept.values()))


def _rewrite(
    held: dict[str, Any], kept: Mapping[str, object], watched_now: Mapping[str, object]
) -> None:
    """Put back what was kept among other entries that are not watched."""
    for name in watched_now.keys() - kept.keys():
        del held[name]
    for name, value in kept.items():
        if held.get(name, _MISSING) is not value:
            held[name] = value
