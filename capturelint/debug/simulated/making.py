"""`torch.tensor`, `as_tensor`, `asarray` and `new_tensor`: made on the host, and moved to the device.

So torch does it in C++, for CUDA alone.
"""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from capturelint.debug.simulated.device import HOST, is_simulated
from capturelint.debug.simulated.tensor import DeviceTensor

if TYPE_CHECKING:
    from capturelint.debug.dispatched.patches import Patches
    from capturelint.debug.simulated.simulator import Simulator

_Maker = Callable[..., torch.Tensor]


def put_makers(patches: Patches, simulator: Simulator) -> None:
    """Let tensors be made on the device of anything, of lists of device tensors, and pinned."""
    patches.put(torch, "tensor", _made(torch.tensor, simulator, is_copy=True))
    patches.put(torch, "as_tensor", _made(torch.as_tensor, simulator, is_copy=False))
    patches.put(torch, "asarray", _made(torch.asarray, simulator, is_copy=False))
    patches.put(torch.Tensor, "new_tensor", _made_like())


def _made(original: _Maker, simulator: Simulator, *, is_copy: bool) -> _Maker:
    def make(data: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        pins = kwargs.pop("pin_memory", False)
        dtype, device = _wanted(args, kwargs)
        if isinstance(data, DeviceTensor):
            source = data.detach().clone() if is_copy else data
            target = source.device if device is None else device
            return _moved(source, target, dtype or source.dtype, kwargs)
        target = _default() if device is None else device
        if is_simulated(target):
            host = _on_host(original, data, dtype)
            return _moved(host.detach() if is_copy else host, target, dtype, kwargs)
        made = original(read(data), *args, **kwargs)
        return simulator.pinned.add(made) if pins else made

    return make


def _default() -> torch.device:
    """Return where tensors are made when nothing is said."""
    # Torch asks `torch.tensor` itself.
    if torch._C._len_torch_function_stack():
        return torch.empty(0).device
    return HOST


def _on_host(original: _Maker, data: Any, dtype: torch.dtype | None) -> torch.Tensor:
    if isinstance(data, torch.Tensor):
        return data
    return original(read(data), dtype=dtype, device="cpu")


def _made_like() -> _Maker:
    original: Any = torch.Tensor.new_tensor

    def new_tensor(self: torch.Tensor, data: Any, *args: Any, **kwargs: Any) -> torch.Tensor:
        dtype, device = _wanted(args, kwargs)
        device = self.device if device is None else device
        if not is_simulated(device):
            made: torch.Tensor = original(self, read(data), *args, **kwargs)
            return made
        if isinstance(data, torch.Tensor):
            return _moved(data.detach(), device, dtype, kwargs)
        return _moved(torch.tensor(read(data), dtype=dtype or self.dtype), device, None, kwargs)

    return new_tensor


def _wanted(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Return dtype and device of a call, both in this order if they are positional."""
    dtype = kwargs.get("dtype", args[0] if args else None)
    return dtype, kwargs.get("device", args[1] if len(args) > 1 else None)


def _moved(
    data: torch.Tensor, device: Any, dtype: torch.dtype | None, kwargs: dict[str, Any]
) -> torch.Tensor:
    moved = data.to(device=device, dtype=dtype)
    return moved.requires_grad_() if kwargs.get("requires_grad") else moved


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
