"""`torch.Generator`: made for the device, it is a generator of the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from capturelint.debug.simulated.device import is_simulated
from capturelint.debug.simulated.generators import DeviceGenerator

if TYPE_CHECKING:
    from capturelint.debug.dispatched.patches import Patches
    from capturelint.debug.simulated.simulator import Simulator


def put_generators(patches: Patches, simulator: Simulator) -> None:
    """Let `torch.Generator` make generators of either side."""
    real = torch.Generator

    # A metaclass, since the host's generators, made before, must be instances of it too.
    class OfEitherSide(type):
        def __call__(cls, device: Any = "cpu") -> torch.Generator:
            if device is not None and is_simulated(device):
                return DeviceGenerator.of(simulator)
            return real() if device is None else real(device)

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, real)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, real)

    class Generator(metaclass=OfEitherSide):
        __doc__ = real.__doc__

    patches.put(torch, "Generator", Generator)
