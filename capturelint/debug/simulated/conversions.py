"""Moving host tensors to the device and pinning them: `.to`, `.cuda`, `.type`, `.pin_memory`."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
# ruff: noqa: FBT001, FBT002 - these stand in for functions of torch, with its parameters
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from capturelint.debug.simulated.device import is_simulated
from capturelint.debug.simulated.ordinals import check_ordinal

if TYPE_CHECKING:
    from capturelint.debug.dispatched.patches import Patches
    from capturelint.debug.simulated.simulator import Simulator

_TensorBase: Any = torch._C.TensorBase


def put_conversions(patches: Patches, simulator: Simulator) -> None:
    """Let the methods of host tensors name the device as C++ knows it, and pin for this session."""
    device = simulator.seen_by_cpp

    def exchanged(value: Any) -> Any:
        if not isinstance(value, (str, torch.device)) or not is_simulated(value):
            return value
        check_ordinal(simulator, value)
        return device

    def to(self: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if isinstance(other := kwargs.pop("other", None), torch.Tensor):
            args = (other, *args)
        if args and isinstance(args[0], torch.Tensor):
            args = (args[0].device, args[0].dtype, *args[1:])
        if "device" in kwargs:
            kwargs["device"] = exchanged(kwargs["device"])
        moved: torch.Tensor = _TensorBase.to(self, *map(exchanged, args), **kwargs)
        return moved

    def cuda(
        self: torch.Tensor, ordinal: Any = None, non_blocking: bool = False, **kwargs: Any
    ) -> torch.Tensor:
        check_ordinal(simulator, ordinal)
        return to(self, device, non_blocking=non_blocking, **kwargs)

    pinned = simulator.pinned
    patches.put(torch.Tensor, "to", to)
    patches.put(torch.Tensor, "cuda", cuda)
    patches.put(torch.Tensor, "type", _typed)
    patches.put(torch.Tensor, "pin_memory", lambda tensor, *_device: pinned.pinned(tensor))
    patches.put(torch.Tensor, "is_pinned", lambda tensor, *_device: pinned.holds(tensor))


def _typed(self: torch.Tensor, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
    wanted = _device_dtype(dtype)
    if wanted is None:
        return _TensorBase.type(self, dtype, non_blocking, **kwargs)
    return self.to("cuda", wanted, non_blocking)


def _device_dtype(kind: Any) -> torch.dtype | None:
    """Return the dtype of a type such as `torch.cuda.HalfTensor`, or None for another."""
    name = kind if isinstance(kind, str) else getattr(kind, "__name__", "")
    module = getattr(kind, "__module__", "") if not isinstance(kind, str) else ""
    full = name if isinstance(kind, str) else f"{module}.{name}"
    prefix = "torch.cuda."
    if not full.startswith(prefix):
        return None
    return getattr(torch, f"{full.removeprefix(prefix)}").dtype  # type: ignore[no-any-return]
