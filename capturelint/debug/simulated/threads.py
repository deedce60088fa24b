"""Threads started in a session: their operations come to the simulator too."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capturelint.debug.dispatched.patches import Patches
    from capturelint.debug.simulated.simulator import Simulator


def put_threads(patches: Patches, simulator: Simulator) -> None:
    """Let every thread that is started run inside the simulator's dispatch mode."""
    original = threading.Thread.run

    def run(self: threading.Thread) -> None:
        with simulator.dispatching():
            original(self)

    patches.put(threading.Thread, "run", run)
