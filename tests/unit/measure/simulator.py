"""The simulated device that tests of this folder run on."""

from __future__ import annotations

from capturelint.debug.simulated import SimulatedBackend

BACKEND = SimulatedBackend()
