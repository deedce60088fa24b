"""`tensor.data = ...` where a tensor is given the data of the other side, as modules move with it."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from capturelint.debug.simulated.carried import host_class, with_class
from capturelint.debug.simulated.tensor import DATA, DeviceTensor

if TYPE_CHECKING:
    from capturelint.debug.dispatched.patches import Patches

# Attributes of device tensors; the last where torch has a class for it on the host.
_OF_THE_DEVICE = ("elem", "simulator", "_is_param")


def put_data(patches: Patches) -> None:
    """Let a tensor change sides when it is given such data."""
    patches.put(torch.Tensor, "data", property(_data, _set_data))


def _data(tensor: torch.Tensor) -> torch.Tensor:
    data: torch.Tensor = DATA.__get__(tensor)
    return data


def _set_data(tensor: torch.Tensor, value: torch.Tensor) -> None:
    if isinstance(tensor, DeviceTensor) is not isinstance(value, DeviceTensor):
        _change_sides(tensor, value)
        return
    DATA.__set__(tensor, value)
    if isinstance(value, DeviceTensor):
        tensor.elem = value.elem  # type: ignore[attr-defined]  # both are device tensors


def _change_sides(tensor: torch.Tensor, value: torch.Tensor) -> None:
    """Bring a tensor to the side of `value`. It stays itself, with attributes, hooks and gradient.

    Torch would put the data of one side under a tensor of the other side's class.
    """
    simulator = value.simulator if isinstance(value, DeviceTensor) else tensor.simulator  # type: ignore[attr-defined]  # one of them is on the device
    if not tensor.is_leaf:
        raise simulator.cannot_tell("giving a computed tensor the .data of another device")
    grad, hooks = tensor.grad, tensor._backward_hooks
    if grad is not None and grad.shape != value.shape:
        raise simulator.cannot_tell("assigning a .data of another shape and device than .grad")
    twin = _like(tensor, value)
    tensor.__class__, twin.__class__ = type(twin), type(tensor)
    tensor.__dict__, twin.__dict__ = twin.__dict__, tensor.__dict__
    torch._C._swap_tensor_impl(tensor, twin)
    # The hooks in C++ went with the other.
    if hooks:
        tensor._backward_hooks = hooks
    if tensor._post_accumulate_grad_hooks:
        tensor._post_accumulate_grad_hooks = tensor._post_accumulate_grad_hooks
    if grad is not None:
        grad.data = grad.detach().to(value.device, value.dtype)
        tensor.grad = grad


def _like(tensor: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Return the data of `value` with the class and the attributes of `tensor` on that side."""
    with torch._C.DisableTorchFunctionSubclass():
        twin: torch.Tensor = value.detach().requires_grad_(tensor.requires_grad)
    gone: tuple[str, ...] = ()
    if isinstance(tensor, DeviceTensor):
        twin.__class__ = host_class(tensor)
        gone = _OF_THE_DEVICE if type(tensor) is DeviceTensor else _OF_THE_DEVICE[:2]
    elif isinstance(twin, DeviceTensor):
        with_class(twin, type(tensor))
    kept = {name: one for name, one in tensor.__dict__.items() if name not in gone}
    twin.__dict__.update(kept)
    return twin
