"""Whether the private parts of torch that the simulator rests on still behave as it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator


def check_torch(simulator: Simulator) -> None:
    """Raise BackendError naming what does not work, and the versions that do."""
