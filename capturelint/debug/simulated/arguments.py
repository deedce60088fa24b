"""The arguments of one operation, by name, as the predicates over them want to see them."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch._ops import OpOverload

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator


class Arguments:
    """What an operation was called with. `simulator`: whose device it runs on."""

    __slots__ = ("_args", "_func", "_kwargs", "simulator")

    def __init__(
        self,
        func: OpOverload,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        simulator: Simulator,
    ) -> None:
        self._func = func
        self._args = args
        self._kwargs = kwargs
        self.simulator = simulator

    def __getitem__(self, name: str) -> Any:
        """Return an argument, or its default; None if the operator has none of that name."""
        if name in self._kwargs:
            return self._kwargs[name]
        position, default = _parameters(self._func).get(name, (len(self._args), None))
        return self._args[position] if position < len(self._args) else default

    def tensors(self) -> tuple[torch.Tensor, ...]:
        """Return the tensors among the positional arguments, not those in lists."""
        return tuple(value for value in self._args if isinstance(value, torch.Tensor))


@cache
def _parameters(func: OpOverload) -> dict[str, tuple[int, Any]]:
    """Return position and default of each parameter by its name."""
    return {
        argument.name: (position, argument.default_value if argument.has_default_value() else None)
        for position, argument in enumerate(func._schema.arguments)
    }
