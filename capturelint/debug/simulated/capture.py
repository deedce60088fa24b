"""One capture from its begin to its end: what it may see, and what ends it badly."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capturelint.debug.simulated.refusal import SimulatedCaptureError
    from capturelint.debug.simulated.streams import SimulatedStream


class Capture:
    """The state of one capture, real or as if.

    `stream`: where it began. `thread`: that began it. `streams`: all that joined it, kept alive
    until it ends, since work on a forgotten stream is still unjoined. `invalid`: the first error
    after which CUDA lets no capture end well, or None.
    """

    def __init__(self, stream: SimulatedStream) -> None:
        self.stream = stream
        self.thread = threading.get_ident()
        self.streams: list[SimulatedStream] = []
        self.invalid: SimulatedCaptureError | None = None

    def invalidate(self, error: SimulatedCaptureError) -> None:
        """Remember the first error that makes the capture end badly."""
        if self.invalid is None:
            self.invalid = error
