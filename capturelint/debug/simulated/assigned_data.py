"""`tensor.data = ...` where a host tensor is given the data of a device tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from capturelint.debug.simulated.tensor import DATA, DeviceTensor

if TYPE_CHECKING:
    from capturelint.debug.simulated.patches import Patches


def put_data(patches: Patches) -> None:
    """Let a host tensor become a device tensor when it is given such data."""
    patches.put(torch.Tensor, "data", property(_data, _set_data))


def _data(tensor: torch.Tensor) -> torch.Tensor:
    data: torch.Tensor = DATA.__get__(tensor)
    return data


def _set_data(tensor: torch.Tensor, value: torch.Tensor) -> None:
    if isinstance(tensor, DeviceTensor) or not isinstance(value, DeviceTensor):
        DATA.__set__(tensor, value)
        return
    # Torch would put the device's storage under a tensor of the host's class.
    twin: torch.Tensor = value.detach().requires_grad_(tensor.requires_grad)
    if isinstance(tensor, nn.Parameter):
        twin = nn.Parameter(twin, tensor.requires_grad)
    torch.utils.swap_tensors(tensor, twin)  # type: ignore[no-untyped-call]
