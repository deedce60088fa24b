"""The capture simulator: a `cuda:0` on the host, for machines without a GPU."""

from __future__ import annotations

from capturelint.debug.simulated.backend import SimulatedBackend

__all__ = ["SimulatedBackend"]
