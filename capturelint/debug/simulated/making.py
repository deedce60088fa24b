"""`torch.tensor`, `as_tensor`, `asarray` and `new_tensor`: made of tensors, of both sides, or pinned.

Of Python numbers torch makes them by operations that the simulator sees. What it does with tensors
inside, and with pinned memory, it does in C++ for CUDA alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from capturelint.debug.simulated.device import is_simulated
from capturelint.debug.simulated.tensor import DeviceTensor

if TYPE_CHECKING:
    from capturelint.debug.simulated.patches import Patches
    from capturelint.debug.simulated.simulator import Simulator

_Maker = Callable[..., torch.Tensor]


def put_makers(patches: Patches, simulator: Simulator) -> None:
    """Let tensors be made of host tensors, of lists of device tensors, and pinned."""
    patches.put(torch, "tensor", _made(torch.tensor, simulator, is_copy=True))
    patches.put(torch, "as_tensor", _made(torch.as_tensor, simulator, is_copy=False))
    patches.put(torch, "asarray", _made(torch.asarray, simulator, is_copy=False))
    patches.put(torch.Tensor, "new_tensor", _made_like())


def _made(original: _Maker, simulator: Simulator, *, is_copy: bool) -> _Maker:
    def make(data: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        pins = kwargs.pop("pin_memory", False)
        dtype, device = _wanted(args, kwargs)
        if _moves(data, device):
            moved = _moved(data.detach() if is_copy else data, device, dtype)
            return moved.requires_grad_() if kwargs.get("requires_grad") else moved
        made = original(read(data), *args, **kwargs)
        return simulator.pinned.add(made) if pins else made

    return make


def _made_like() -> _Maker:
    original: Any = torch.Tensor.new_tensor

    def new_tensor(self: torch.Tensor, data: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        dtype, device = _wanted(args, kwargs)
        device = self.device if device is None else device
        if _moves(data, device):
            moved = _moved(data.detach(), device, dtype)
            return moved.requires_grad_() if kwargs.get("requires_grad") else moved
        made: torch.Tensor = original(self, read(data), *args, **kwargs)
        return made

    return new_tensor


def _wanted(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Return dtype and device of a call, both in this order if they are positional."""
    dtype = kwargs.get("dtype", args[0] if args else None)
    return dtype, kwargs.get("device", args[1] if len(args) > 1 else None)


def _moves(data: Any, device: Any) -> bool:
    """Return whether a plain tensor is to be moved to the device."""
    if not isinstance(data, torch.Tensor) or isinstance(data, DeviceTensor):
        return False
    return is_simulated(device)


def _moved(data: torch.Tensor, device: Any, dtype: torch.dtype | None) -> torch.Tensor:
    return data.to(device=device, dtype=dtype)


def read(data: Any) -> Any:
    """Return Python values with each device tensor in a list read, as torch does one by one."""
    kind = type(data)
    if kind is not list and kind is not tuple:
        return data
    return kind([_value(item) for item in data])


def _value(item: Any) -> Any:
    if isinstance(item, DeviceTensor):
        return item.item() if item.dim() == 0 else [_value(part) for part in item]
    return read(item)
