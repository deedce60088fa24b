"""Moving modules to the device: those of TorchScript, and lazy parameters without a shape."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
# ruff: noqa: FBT001, FBT002 - these stand in for functions of torch, with its parameters
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.parameter import UninitializedTensorMixin  # type: ignore[attr-defined]  # no stub

from capturelint.debug.simulated.device import is_simulated

if TYPE_CHECKING:
    from capturelint.debug.dispatched.patches import Patches

# Where a lazy parameter keeps the device and dtype that it is to get.
_LATER = "_simulated_later"


def put_modules(patches: Patches) -> None:
    """Let modules move that have lazy parameters, which remember where they are to go."""
    original: Any = nn.Module._apply

    def applied(self: nn.Module, fn: Callable[..., Any], recurse: bool = True) -> nn.Module:
        if isinstance(self, torch.jit.ScriptModule):
            return exchanged_in(self, fn, recurse=recurse)
        with shapeless_apart(self, fn):
            module: nn.Module = original(self, fn, recurse)
        return module

    patches.put(nn.Module, "_apply", applied)
    _put_lazy(patches)


@contextmanager
def shapeless_apart(module: nn.Module, fn: Callable[..., Any]) -> Iterator[None]:
    """Return a context in which a module is without its lazy parameters and buffers.

    They are told where `fn` would bring them, to go there when they get their shape.
    """
    tables: tuple[Any, ...] = (module._parameters, module._buffers)
    taken = [
        (table, name, value)
        for table in tables
        for name, value in table.items()
        if value is not None and nn.parameter.is_lazy(value)
    ]
    for table, name, lazy in taken:
        moved = fn(torch.empty(0, dtype=lazy.dtype))
        lazy.__dict__[_LATER] = (moved.device, moved.dtype)
        del table[name]
    try:
        yield
    finally:
        for table, name, lazy in taken:
            table[name] = lazy


def exchanged_in(module: nn.Module, fn: Callable[..., Any], *, recurse: bool) -> nn.Module:
    """Give modules of TorchScript new parameters: what C++ holds of the old ones cannot move.

    Modules that shared a parameter share the new one.
    """
    made: dict[int, nn.Parameter] = {}
    for owner in module.modules() if recurse else (module,):
        for name, parameter in owner._parameters.items():
            if parameter is not None:
                owner._parameters[name] = _exchanged(parameter, fn, made)
        for name, buffer in owner._buffers.items():
            if buffer is not None:
                owner._buffers[name] = fn(buffer)
    return module


def _exchanged(
    parameter: nn.Parameter, fn: Callable[..., Any], made: dict[int, nn.Parameter]
) -> nn.Parameter:
    if id(parameter) not in made:
        with torch.no_grad():
            moved = fn(parameter)
        same = moved is parameter
        made[id(parameter)] = (
            parameter if same else nn.Parameter(moved.detach(), parameter.requires_grad)
        )
    return made[id(parameter)]


def _put_lazy(patches: Patches) -> None:
    """Let a parameter without a shape stay on the host, and go to its device with its shape."""
    mixin = UninitializedTensorMixin
    real_materialize = mixin.materialize

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        later = self.__dict__.pop(_LATER, (self.device, self.dtype))
        device = later[0] if device is None else device
        dtype = later[1] if dtype is None else dtype
        if not is_simulated(device):
            real_materialize(self, shape, device, dtype)
            return
        self.__class__ = self.cls_to_become
        self.data = torch.empty(shape, device="cuda", dtype=dtype)

    patches.put(mixin, "materialize", materialize)
    for kind in (nn.UninitializedParameter, nn.UninitializedBuffer):
        patches.put(kind, "__new__", staticmethod(_made_on_host(kind)))


def _made_on_host(kind: Any) -> Callable[..., Any]:
    real_new = kind.__new__

    grows = kind is nn.UninitializedParameter

    def new(
        cls: Any, requires_grad: Any = grows, device: Any = None, dtype: Any = None, **rest: Any
    ) -> Any:
        simulated = device is not None and is_simulated(device)
        made = real_new(cls, requires_grad, "cpu" if simulated else device, dtype, **rest)
        if simulated:
            made.__dict__[_LATER] = (torch.device("cuda", 0), made.dtype)
        return made

    return new
