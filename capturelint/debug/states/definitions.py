"""The classes, functions and files behind objects: where code keeps state outside of instances."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import Any

from capturelint.debug.frames import is_users, is_users_file
from capturelint.debug.states.kinds import Kind, kind_of
from capturelint.debug.states.sections import ATTRIBUTES, Cell, Defaults, Namespace, Section

_INSTALLED = ("site-packages", "dist-packages")
_CODE = frozenset({Kind.FUNCTION, Kind.CLASS, Kind.FILE})


@dataclass(frozen=True, slots=True)
class Holder:
    """A class, function, variable of an enclosing function, or the variables of a file.

    `path`: what a report calls it. `sections`: where it keeps state.
    """

    path: str
    owner: object
    sections: tuple[Section, ...]


class Definitions:
    """The holders behind the classes and functions added so far, each once.

    The user's own files lead on to those that they import; files of installed packages do not.
    """

    def __init__(self) -> None:
        self.holders: list[Holder] = []
        self._met: dict[int, object] = {}  # which also keeps them alive, and their ids theirs

    def add_class(self, cls: type) -> None:
        """Add what a class, its bases and their files hold."""
        if id(cls) not in self._met:
            self._add(cls)

    def add_own_class(self, cls: type) -> None:
        """Add the same of a class, unless it comes from an installed package."""
        if id(cls) not in self._met and not _is_installed(_file_of(cls) or ""):
            self._add(cls)

    def add_file_of(self, function: FunctionType) -> None:
        """Add what the file of a function holds, not the function itself."""
        if id(function.__globals__) not in self._met:
            for value in self._from_file(function.__globals__):
                self._add(value)

    def _add(self, value: object) -> None:
        waiting = [value]
        while waiting:
            value = waiting.pop()
            if id(value) in self._met:
                continue
            self._met[id(value)] = value
            if isinstance(value, type):
                waiting += self._from_class(value)
            elif isinstance(value, FunctionType):
                waiting += self._from_function(value)
            else:
                waiting += self._from_file(vars(value))

    def _from_class(self, cls: type) -> Iterator[object]:
        yield from cls.__mro__[1:]
        if not _is_users(cls):
            return
        self.holders.append(Holder(cls.__name__, cls, (Namespace(),)))
        yield from _functions_of(cls)
        if cls.__module__ in sys.modules:
            yield sys.modules[cls.__module__]

    def _from_function(self, function: FunctionType) -> Iterator[object]:
        if not is_users(function.__code__):
            yield from (value for value in wrapped_by(function) if _is_code(value))
            return
        self.holders += holders_of(function)
        yield from self._from_file(function.__globals__)

    def _from_file(self, variables: dict[str, Any]) -> Iterator[object]:
        path = variables.get("__file__")
        if id(variables) in self._met or not isinstance(path, str) or not is_users_file(path):
            return
        self._met[id(variables)] = variables
        self.holders.append(Holder("", variables, (Namespace("global "),)))
        is_own = not _is_installed(path)
        for value in list(variables.values()):
            other = _file_of(value) if _is_code(value) else None
            if other == path or (is_own and other is not None and not _is_installed(other)):
                yield value


def holders_of(function: FunctionType) -> Iterator[Holder]:
    """Yield what a function holds: variables of the functions around it, defaults, attributes."""
    for variable, cell in _cells(function):
        if variable != "__class__":  # what `super()` needs
            yield Holder("", cell, (Cell(variable, function.__name__),))
    values = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    if any(kind_of(type(value)) is not Kind.SCALAR for value in values):
        yield Holder(function.__name__, function, (Defaults(), ATTRIBUTES))
    elif vars(function) or not _is_installed(function.__code__.co_filename):
        yield Holder(function.__name__, function, (ATTRIBUTES,))


def wrapped_by(function: FunctionType) -> Iterator[object]:
    """Yield the functions and modules that a decorator or a library's function holds."""
    for variable, cell in _cells(function):
        value = Cell(variable, "").read(cell).get(variable)
        if kind_of(type(value)) in (Kind.MODULE, Kind.FUNCTION, Kind.METHOD, Kind.PARTIAL):
            yield value


def _cells(function: FunctionType) -> Iterator[tuple[str, CellType]]:
    return zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)


def _is_code(value: object) -> bool:
    return kind_of(type(value)) in _CODE


def _is_users(cls: type) -> bool:
    path = getattr(sys.modules.get(cls.__module__), "__file__", None)
    if isinstance(path, str):
        return is_users_file(path)
    return any(is_users(function.__code__) for function in _functions_of(cls))


def _functions_of(cls: type) -> Iterator[FunctionType]:
    for value in list(vars(cls).values()):
        inner = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
        if isinstance(inner, FunctionType):
            yield inner


def _file_of(value: Any) -> str | None:
    """Return the file that defines a function or class, or that a module of Python is."""
    module = value if kind_of(type(value)) is Kind.FILE else sys.modules.get(value.__module__)
    path = getattr(module, "__file__", None)
    if path is None and isinstance(value, FunctionType):
        path = value.__globals__.get("__file__")
    return path if isinstance(path, str) and is_users_file(path) else None


def _is_installed(path: str) -> bool:
    return any(folder in path for folder in _INSTALLED)
