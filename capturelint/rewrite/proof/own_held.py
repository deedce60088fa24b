"""Buffers that are made of an attribute, for modules that were made without them."""

from __future__ import annotations

import ast
import gc
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn

from capturelint.debug.cases.mistakes import CaseError
from capturelint.rewrite.buffers import Buffer
from capturelint.rewrite.fresh import assigned_in_init
from capturelint.rewrite.proof.held import CannotHoldError, borrower, family, value_of
from capturelint.rewrite.steady import Held, why_unsteady

_WHOLE = (torch.int64, torch.int32)
_BY_HAND = "make it a buffer by hand, if nothing changes it"


class UnsteadyError(Exception):
    """An attribute no longer holds what it held."""


def held_by(
    buffer: Buffer,
    table: Mapping[str, Any],
    functions: Sequence[FunctionType],
    path: str,
    place: Callable[[Tensor], Tensor],
) -> object:
    """Return what stands for a buffer that `functions` of the file `path` read: its tensor, or what gives one.

    `table`: the global names of the file. Raises `CannotHoldError` if modules cannot hold it.
    """
    value, cls = value_of(buffer, table), table[buffer.cls]
    if name := borrower(functions, cls):
        raise CannotHoldError(f"`{name}` has this method too, and no such buffer")
    if not buffer.of:
        return place(value)
    check_steady(buffer, cls, path)
    return HeldOfModules(buffer, cls, place)


class HeldOfModules:
    """Gives the buffer of a module, as a call, while its attribute still holds what it held at first."""

    def __init__(self, buffer: Buffer, cls: type, place: Callable[[Tensor], Tensor]) -> None:
        self._buffer = buffer
        self._place = place
        self._held: dict[int, tuple[nn.Module, Tensor, Tensor]] = {}
        for one in modules_of(cls):
            self._keep(one)

    def __call__(self, module: nn.Module) -> Tensor:
        """Return the buffer. Raises `UnsteadyError` if what it was made of has changed."""
        if id(module) not in self._held:
            self._keep(module)
        _, before, placed = self._held[id(module)]
        if not _is_same(tensor_of(module, self._buffer), before):
            raise UnsteadyError(f"`{self._buffer.of}` has changed")
        return placed

    def _keep(self, module: nn.Module) -> None:
        value = tensor_of(module, self._buffer).clone()
        self._held[id(module)] = module, value, self._place(value)


def tensor_of(module: nn.Module, buffer: Buffer) -> Tensor:
    """Return the integers that a module's attribute holds. Raises `CannotHoldError` for others."""
    value = getattr(module, buffer.of, None)
    if type(value) in (list, tuple):
        try:
            value = torch.tensor(value)
        except (TypeError, ValueError, RuntimeError):
            value = None
    if type(value) is not Tensor or value.dtype not in _WHOLE or not value.ndim:
        raise CannotHoldError(f"`{buffer.of}` of a module holds no list of integers")
    if value.device.type != "cpu":
        raise CannotHoldError(f"`{buffer.of}` of a module is on the device already")
    return value


def modules_of(cls: type) -> Iterator[Any]:
    """Yield the modules of a class, and of those that are derived from it."""
    for one in gc.get_objects():
        if isinstance(type(one), type) and issubclass(type(one), cls):
            yield one


def check_steady(buffer: Buffer, cls: type, path: str) -> None:
    """Raise `CannotHoldError` if code of the running program may change what a buffer is made of.

    `path`: the file of the class.
    """
    is_flat = all(
        type(getattr(one, buffer.of, None)) in (list, tuple) and tensor_of(one, buffer).ndim == 1
        for one in modules_of(cls)
    )
    related = [*family(cls), *(one for one in cls.__mro__ if one not in nn.Module.__mro__)]
    if any(hasattr(one, buffer.of) for one in related):
        raise CannotHoldError(f"`{buffer.of}` is an attribute of its class too; {_BY_HAND}")
    for file in {path, *filter(None, map(_file_of, related)), *_files(cls)}:
        text = _text(file)
        if buffer.of not in text:
            continue
        tree = ast.parse(text)
        names = frozenset(one.__name__ for one in related if _file_of(one) in (file, ""))
        held = Held(buffer.of, names, is_flat)
        made = assigned_in_init(tree, buffer.cls, buffer.of) if file == path else None
        why = why_unsteady(tree, held, made)
        if why:
            place = "" if file == path else f"{Path(file).name}, "
            raise CannotHoldError(f"{place}{why}; {_BY_HAND}")


def check_made(buffers: Iterable[tuple[Buffer, type]]) -> None:
    """Raise `CaseError` if what made the modules changed what their buffers were made of."""
    for buffer, cls in buffers:
        for one in modules_of(cls) if buffer.of else ():
            held = vars(one).get("_buffers", {}).get(buffer.name)
            if held is not None and not _is_same(tensor_of(one, buffer), held.cpu()):
                raise CaseError(f"`{buffer.of}` is changed after `__init__`")


def _is_same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and bool((one == other).all())


def _file_of(cls: type) -> str:
    """Return the file of a class, as its methods have it, "" for one without."""
    found = (one.__code__.co_filename for one in vars(cls).values() if type(one) is FunctionType)
    return next(found, "")


def _files(cls: type) -> Iterator[str]:
    """Yield the files of what is imported and may know a class: all but installed packages that do not name its own."""
    own = sysconfig.get_paths()["stdlib"]
    package = cls.__module__.partition(".")[0]
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None) or ""
        if not path.endswith(".py") or (path.startswith(own) and "-packages" not in path):
            continue
        is_near = "-packages" not in path or name.partition(".")[0] == package
        if is_near or f"import {package}" in (text := _text(path)) or f"from {package}" in text:
            yield path


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
