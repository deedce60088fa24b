"""Tensors of the user's own classes on the device: a class of both, theirs first."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
# ruff: noqa: FBT001, FBT002 - these stand in for functions of torch, with its parameters
from __future__ import annotations

import types
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from capturelint.debug.simulated.tensor import DeviceTensor

if TYPE_CHECKING:
    from capturelint.debug.dispatched.patches import Patches

# What torch sets on a parameter whose class is not `nn.Parameter`.
_IS_PARAMETER = "_is_param"


class CarryingTensor(DeviceTensor):
    """A device tensor that also has a class of the user's, `carries`."""

    carries: type

    @classmethod
    def __torch_function__(  # type: ignore[override]  # torch declares another signature
        cls, func: Any, kinds: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Give results the user's class, on whichever side they are, as torch does."""
        default: Any = torch.Tensor.__torch_function__
        return default.__func__(cls.carries, func, [carried(one) for one in kinds], args, kwargs)


def carried(kind: type) -> type:
    """Return the class that the user gave to a tensor whose class is `kind`."""
    return getattr(kind, "carries", kind) if issubclass(kind, CarryingTensor) else kind


def put_classes(patches: Patches) -> None:
    """Let tensors of the user's classes be made of device tensors."""
    real_new: Any = nn.Parameter.__new__

    def new(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
        # That is when torch makes the class that is asked for.
        if cls is nn.Parameter or type(data) is not DeviceTensor:
            return real_new(cls, data, requires_grad)
        with torch._C.DisableTorchFunctionSubclass():
            return with_class(data.detach().requires_grad_(requires_grad), cls)

    def as_subclass(self: DeviceTensor, cls: Any) -> Any:
        with torch._C.DisableTorchFunctionSubclass():
            return with_class(self.view_as(self), cls)

    patches.put(nn.Parameter, "__new__", staticmethod(new))
    patches.put(DeviceTensor, "as_subclass", as_subclass)


def with_class(tensor: Any, kind: type) -> DeviceTensor:
    """Give a fresh device tensor the class `kind` of a host tensor.

    Raises CannotTellError if a tensor cannot have that class and be on the device.
    """
    given: DeviceTensor = tensor
    if kind is nn.Parameter:
        given.__dict__[_IS_PARAMETER] = True
    try:
        tensor.__class__ = on_device(kind)
    except TypeError as error:
        raise tensor.simulator.cannot_tell(f"tensors of the class {kind.__name__}") from error
    return given


def host_class(tensor: DeviceTensor) -> type:
    """Return the class that a device tensor has on the host."""
    if isinstance(tensor, CarryingTensor):
        return tensor.carries
    return nn.Parameter if isinstance(tensor, nn.Parameter) else torch.Tensor


@cache
def on_device(kind: type) -> type[DeviceTensor]:
    """Return the class that a tensor of the class `kind` has on the device.

    Raises TypeError if there can be none.
    """
    if issubclass(kind, DeviceTensor):
        return kind
    if issubclass(DeviceTensor, kind) or kind is nn.Parameter:
        return DeviceTensor
    given: Any = kind
    if given.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        raise TypeError(f"{kind.__name__} has a __torch_dispatch__ of its own")
    names = {"carries": kind, "__module__": kind.__module__, "__qualname__": kind.__qualname__}
    both: type[DeviceTensor] = types.new_class(
        kind.__name__, (kind, CarryingTensor), {}, lambda body: body.update(names)
    )
    return both
