"""The arguments of one operation, by name, as the predicates over them want to see them."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from functools import cache
from typing import Any, Protocol

import torch
from torch._ops import OpOverload


class Device(Protocol):
    """What the forms of operations ask of the device."""

    def is_pinned(self, tensor: torch.Tensor) -> bool:
        """Return whether a tensor of the host lies in pinned memory."""

    def is_foreign(self, generator: torch.Generator) -> bool:
        """Return whether a generator is not the default one, which each graph knows.

        Raises RuntimeError if it is the host's.
        """


class Arguments:
    """What an operation was called with. `device`: that it runs on."""

    __slots__ = ("_args", "_func", "_kwargs", "device")

    def __init__(
        self,
        func: OpOverload,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        device: Device,
    ) -> None:
        self._func = func
        self._args = args
        self._kwargs = kwargs
        self.device = device

    def __getitem__(self, name: str) -> Any:
        """Return an argument, or its default; None if the operator has none of that name."""
        if name in self._kwargs:
            return self._kwargs[name]
        position, default = _parameters(self._func).get(name, (len(self._args), None))
        return self._args[position] if position < len(self._args) else default

    def tensors(self) -> tuple[torch.Tensor, ...]:
        """Return the tensors among the positional arguments, not those in lists."""
        return tuple(value for value in self._args if isinstance(value, torch.Tensor))


def is_on_device(value: object) -> bool:
    """Return whether `value` is a tensor on the device, real or simulated."""
    return isinstance(value, torch.Tensor) and value.is_cuda


def is_on_host(value: object) -> bool:
    """Return whether `value` is a tensor that is not on the device."""
    return isinstance(value, torch.Tensor) and not value.is_cuda


def names_device(target: Any) -> bool:
    """Return whether a device, a name or an index means the device, not the host."""
    return torch.device(target).type not in ("cpu", "meta")


@cache
def _parameters(func: OpOverload) -> dict[str, tuple[int, Any]]:
    """Return position and default of each parameter by its name."""
    return {
        argument.name: (position, argument.default_value if argument.has_default_value() else None)
        for position, argument in enumerate(func._schema.arguments)
    }
