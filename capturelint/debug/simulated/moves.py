"""`tensor.to(...)` of a device tensor: where it stays, where it is converted, where it leaves."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from capturelint.debug.simulated.device import is_simulated
from capturelint.debug.simulated.ordinals import check_ordinal

if TYPE_CHECKING:
    from capturelint.debug.simulated.tensor import DeviceTensor


def moved(tensor: DeviceTensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
    """Return what `tensor.to(*args, **kwargs)` is: the tensor itself where nothing changes."""
    args, kwargs = _without_other(args, kwargs)
    always = kwargs.pop("copy", False)
    if len(args) >= 3 and isinstance(args[-1], bool) and isinstance(args[-2], bool):
        *rest, always = args
        args = tuple(rest)
    wanted: tuple[Any, ...] = torch._C._nn._parse_to(*args, **kwargs)
    device, dtype, non_blocking, layout = wanted
    dtype = dtype or tensor.dtype
    layout = layout or torch.preserve_format
    stays = device is None or is_simulated(device)
    if stays:
        check_ordinal(tensor.simulator, device)
    if stays and dtype == tensor.dtype and not always and layout is torch.preserve_format:
        return tensor
    target = {} if stays else {"device": device}
    return torch.Tensor.to(
        tensor, dtype=dtype, non_blocking=non_blocking, copy=always, memory_format=layout, **target
    )


def _without_other(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of `.to` with the tensor form spelt out as device and dtype."""
    kwargs = dict(kwargs)
    other = kwargs.pop("other", None)
    if other is None and args and isinstance(args[0], torch.Tensor):
        other, *rest = args
        args = tuple(rest)
    if other is None:
        return args, kwargs
    return (other.device, other.dtype, *args), kwargs
