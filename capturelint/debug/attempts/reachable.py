"""Which modules a module or function can call, and by what names."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping
from typing import Any

from torch import nn
from torch.jit import ScriptModule


def reachable(run: object) -> dict[str, nn.Module]:
    """Return the modules that `run` holds, by path; "" is `run` itself where it is a module.

    A module that has several names is there under each of them, those below it under the first
    only. A function holds what its closure, its defaults and its `partial` arguments are, and the
    globals that it or a function of its file names: `model.layers.0`. The modules of a method's
    object have no prefix: `layers.0`; the object is `self`.
    """
    found: dict[str, nn.Module] = {}
    _gather("", run, found, set())
    owner = getattr(run, "__self__", None)
    if isinstance(owner, nn.Module):
        found["self"] = owner
    return found


def _gather(path: str, holder: object, found: dict[str, nn.Module], met: set[int]) -> None:
    if isinstance(holder, nn.Module):
        found[path] = holder
    if id(holder) in met:
        return
    met.add(id(holder))
    for name, value in _held(holder):
        _gather(f"{path}.{name}".strip("."), value, found, met)


def _held(holder: object) -> Iterator[tuple[str, object]]:
    """Return what `holder` holds that is a module or may hold one."""
    if isinstance(holder, nn.Module):
        # Read from the dictionary: a wrapper may answer for the attributes of another module. One
        # that TorchScript made keeps its modules elsewhere.
        held = vars(holder).get("_modules", {}) if not isinstance(holder, ScriptModule) else {}
        yield from ((name, one) for name, one in held.items() if one is not None)
        return
    for name, value in _values(holder):
        if isinstance(value, _HOLDERS):
            yield name, value


_HOLDERS = (nn.Module, list, tuple, dict, functools.partial, types.MethodType, types.FunctionType)


def _values(holder: object) -> Iterator[tuple[str, object]]:
    if isinstance(holder, Mapping):
        yield from ((str(key), value) for key, value in holder.items())
    elif isinstance(holder, list | tuple):
        yield from ((str(index), value) for index, value in enumerate(holder))
    elif isinstance(holder, functools.partial):
        yield "func", holder.func
        yield from _values(holder.args)
        yield from _values(holder.keywords)
    elif isinstance(holder, types.MethodType):
        yield from _held(holder.__self__)
        yield from _values(holder.__func__)
    elif isinstance(holder, types.FunctionType):
        yield from _of_function(holder)
    elif hasattr(holder, "__dict__"):  # an object that is called itself, such as a training step
        yield from vars(holder).items()


def _of_function(function: types.FunctionType) -> Iterator[tuple[str, object]]:
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    defaults: tuple[Any, ...] = function.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    yield from zip(positional[len(positional) - len(defaults) :], defaults, strict=True)
    yield from (function.__kwdefaults__ or {}).items()
    for name in code.co_names:
        value = function.__globals__.get(name)
        # Functions of other files lead through whole libraries.
        if not isinstance(value, types.FunctionType) or value.__globals__ is function.__globals__:
            yield name, value
