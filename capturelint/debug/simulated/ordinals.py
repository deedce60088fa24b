"""The one device that there is: any other is not simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator


def check_ordinal(simulator: Simulator, device: Any) -> None:
    """Raise CannotTellError if a device, its name or its index is not the first one."""
    if isinstance(device, str):
        device = torch.device(device)
    index = device.index if isinstance(device, torch.device) else device
    if index is not None and index > 0:
        raise simulator.cannot_tell(
            f"cuda:{index} (invalid device ordinal: the simulator has one device, cuda:0)"
        )
