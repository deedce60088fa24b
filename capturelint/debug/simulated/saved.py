"""`torch.load`: what was saved on a device, or is wanted on it, is moved there when it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from capturelint.debug.simulated.device import is_simulated
from capturelint.debug.simulated.placing import placed

if TYPE_CHECKING:
    from capturelint.debug.dispatched.patches import Patches
    from capturelint.debug.simulated.simulator import Simulator


def put_load(patches: Patches, simulator: Simulator) -> None:
    """Let `torch.load` bring tensors to the simulated device."""
    original = torch.load

    def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        where = _Where(map_location)
        if where.is_others:
            return original(f, map_location, *args, **kwargs)
        loaded = original(f, where, *args, **kwargs)
        return placed(loaded, simulator) if where.is_device else loaded

    patches.put(torch, "load", load)
    patches.put(torch.serialization, "load", load)


class _Where:
    """Keeps storages on the host, and knows whether they belong on the device."""

    def __init__(self, map_location: Any) -> None:
        is_named = isinstance(map_location, (str, torch.device))
        self.is_device = is_named and is_simulated(map_location)
        # The host, another device, or a function or table of the user's.
        self.is_others = map_location is not None and not self.is_device

    def __call__(self, storage: Any, location: str) -> Any:
        self.is_device = self.is_device or location.startswith("cuda")
        return storage
