"""The tensors of buffers that new code reads, for modules that were made without them."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from capturelint.rewrite.buffers import Buffer


class CannotHoldError(Exception):
    """A module cannot hold a buffer, or would change it. The text says why."""


def value_of(buffer: Buffer, names: Mapping[str, Any]) -> Tensor:
    """Return the tensor of a buffer, on the host. `names`: the global ones of its file.

    Raises `CannotHoldError` if modules of its class have something by that name, or are of another
    floating type, so that they would convert it.
    """
    cls = names.get(buffer.cls)
    if not isinstance(cls, type) or not issubclass(cls, nn.Module):
        raise CannotHoldError(f"`{buffer.cls}` is no module")
    if cls.register_buffer is not nn.Module.register_buffer or hasattr(cls, buffer.name):
        raise CannotHoldError(f"`{buffer.cls}` keeps buffers in its own way")
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
