"""The tensors of buffers that new code reads, for modules that were made without them."""

from __future__ import annotations

import ast
import gc
import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn

from capturelint.rewrite.buffers import Buffer


class CannotHoldError(Exception):
    """A module cannot hold a buffer, or would change it. The text says why."""


def held_by(
    buffers: Sequence[Buffer], functions: Sequence[FunctionType], place: Callable[[Any], Any]
) -> dict[str, object]:
    """Return the tensors of buffers that functions read, by the names that stand for them.

    `place`: puts one on the device. Raises `CannotHoldError`.
    """
    table = functions[0].__globals__ if buffers else {}
    held = {one.placeholder: place(value_of(one, table)) for one in buffers}
    for one in {one.name: table[one.cls] for one in buffers}.values():
        if name := borrower(functions, one):
            raise CannotHoldError(f"`{name}` has this method too, and no such buffer")
    return held


def value_of(buffer: Buffer, names: Mapping[str, Any]) -> Tensor:
    """Return the tensor of a buffer, on the host. `names`: the global ones of its file.

    Raises `CannotHoldError` if modules of its class have something by that name, or are of another
    floating type, so that they would convert it, or if a class derived from it may be made without it.
    """
    cls = names.get(buffer.cls)
    if not isinstance(cls, type) or not issubclass(cls, nn.Module):
        raise CannotHoldError(f"`{buffer.cls}` is no module")
    if cls.register_buffer is not nn.Module.register_buffer or hasattr(cls, buffer.name):
        raise CannotHoldError(f"`{buffer.cls}` keeps buffers in its own way")
    for derived in family(cls):
        _check_made(derived, cls)
    value: Tensor = eval(buffer.text, {**names, "torch": torch})  # noqa: S307 - numbers that the file holds
    for one in gc.get_objects():
        if isinstance(type(one), type) and issubclass(type(one), cls):
            _check(one, buffer.name, value)
    return value


def _check(module: nn.Module, name: str, value: Tensor) -> None:
    if hasattr(module, name):
        raise CannotHoldError(f"a module has an attribute `{name}` already")
    held = (*module.parameters(), *module.buffers())
    kinds = {one.dtype for one in held if one.is_floating_point()}
    if value.is_floating_point() and not kinds <= {value.dtype}:
        raise CannotHoldError("its module is of another type, to which a buffer would be converted")


def family(cls: type) -> set[type]:
    """Return a class, and all that are derived from it by now."""
    found, level = {cls}, [cls]
    while level:
        derived: list[type] = type.__subclasses__(level.pop())
        new = [one for one in derived if one not in found]
        found.update(new)
        level.extend(new)
    return found


def borrower(functions: Iterable[FunctionType], cls: type) -> str:
    """Return the name of a module's class that has a method of `cls` without being derived from it, or ""."""
    wanted = {id(one) for one in functions}
    for one in family(nn.Module) - family(cls):
        if any(id(held) in wanted for held in vars(one).values()):
            return one.__name__
    return ""


def _check_made(one: type, cls: type) -> None:
    """Raise unless each `__init__` between a class and the one that makes a buffer calls the next."""
    between = one.__mro__[: one.__mro__.index(cls)]
    for owner in between:
        if "__init__" in vars(owner) and not _calls_next(vars(owner)["__init__"]):
            name = f"{owner.__name__}.__init__"
            raise CannotHoldError(
                f"`{name}` may not call that of `{cls.__name__}`, which would make the buffer"
            )


def _calls_next(init: object) -> bool:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(init)))  # type: ignore[arg-type]  # or TypeError
    except (OSError, TypeError, SyntaxError):
        return False
    body = tree.body[0].body if isinstance(tree.body[0], ast.FunctionDef) else []
    before = itertools.takewhile(
        lambda one: not any(isinstance(x, ast.Return) for x in ast.walk(one)), body
    )
    return any(
        isinstance(one, ast.Expr) and ast.unparse(one).startswith("super().__init__(")
        for one in before
    )
