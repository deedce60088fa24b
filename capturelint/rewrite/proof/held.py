"""The tensors of buffers that new code reads, for modules that were made without them."""

from __future__ import annotations

import ast
import dis
import gc
import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

import torch
from torch import Tensor, nn

from capturelint.rewrite.buffers import Buffer

# What calls none of a module's own methods.
_REGISTERING = frozenset(("add_module", "register_buffer", "register_module", "register_parameter"))


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
        if name := caller(functions, one):
            raise CannotHoldError(f"`{name}` may call this method on what has no such buffer")
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
        _check_bases(derived, cls)
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


def caller(functions: Sequence[FunctionType], cls: type) -> str:
    """Return the name of a function that reads a method of `cls` from the class, as `cls.method`, or ""."""
    pairs = {(cls.__name__, one.__name__) for one in functions}
    gc.unfreeze()  # what a program has frozen is not listed
    for one in gc.get_objects():
        is_near = type(one) is FunctionType and one.__globals__.get(cls.__name__, cls) is cls
        if is_near and any(_reads(code, pairs) for code in _codes(one.__code__)):
            return str(one.__qualname__)
    return ""


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function, and of those inside of it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)


def _reads(code: CodeType, pairs: set[tuple[str, str]]) -> bool:
    if not any({*pair} <= {*code.co_names} for pair in pairs):
        return False
    names = [one.argval for one in dis.get_instructions(code)]
    return not pairs.isdisjoint(
        pair for pair in itertools.pairwise(names) if all(isinstance(x, str) for x in pair)
    )


def _check_made(one: type, cls: type) -> None:
    """Raise unless each `__init__` between a class and the one that makes a buffer calls the next."""
    between = one.__mro__[: one.__mro__.index(cls)]
    for owner in between:
        if "__init__" in vars(owner) and not _calls_next(vars(owner)["__init__"]):
            name = f"{owner.__name__}.__init__"
            raise CannotHoldError(
                f"`{name}` may not call that of `{cls.__name__}`, which would make the buffer"
            )


def _check_bases(one: type, cls: type) -> None:
    """Raise if an `__init__` that runs before the buffer is made may call what reads it."""
    above = one.__mro__[one.__mro__.index(cls) + 1 :]
    for owner in above:
        is_own = owner not in (nn.Module, object) and "__init__" in vars(owner)
        if is_own and _runs_methods(vars(owner)["__init__"]):
            name = f"{owner.__name__}.__init__"
            raise CannotHoldError(f"`{name}` may call what reads a buffer before there is one")


def _runs_methods(init: object) -> bool:
    """Return whether an `__init__` calls its module or a method of it, or hands it on, as far as can be told."""
    function = _parsed(init)
    if function is None or not function.args.args:
        return True
    own = function.args.args[0].arg
    nodes = list(ast.walk(function))
    called = [one.func for one in nodes if isinstance(one, ast.Call)]
    attributes = [one for one in nodes if isinstance(one, ast.Attribute) and _is(one.value, own)]
    is_called = any(one in called and one.attr not in _REGISTERING for one in attributes)
    return is_called or sum(_is(one, own) for one in nodes) > len(attributes)


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _parsed(function: object) -> ast.FunctionDef | None:
    """Return the tree of a function, None if its source is not there."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))  # type: ignore[arg-type]  # or TypeError
    except (OSError, TypeError, SyntaxError):
        return None
    return tree.body[0] if isinstance(tree.body[0], ast.FunctionDef) else None


def _calls_next(init: object) -> bool:
    function = _parsed(init)
    body = [] if function is None else function.body
    before = itertools.takewhile(
        lambda one: not any(isinstance(x, ast.Return) for x in ast.walk(one)), body
    )
    return any(
        isinstance(one, ast.Expr) and ast.unparse(one).startswith("super().__init__(")
        for one in before
    )
