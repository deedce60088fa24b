"""See errors of a capture when they are raised, also those that the code swallows."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from capturelint.debug.frames import users_frames
from capturelint.verdict import Place

# What torch says to a synchronizing operation in its debug mode, before CUDA is asked.
GUARD = "called a synchronizing CUDA operation"
_OF_A_CAPTURE = re.compile(rf"{GUARD}|StreamCapture|CUDA error|unless the CPU tensor is pinned")


@dataclass(slots=True)
class Raised:
    """The first error of a capture that was raised in it. `places`: the user's frames, innermost first."""

    error: BaseException | None = None
    places: tuple[Place, ...] = field(default=())

    def note(self, error: object, frame: FrameType) -> None:
        """Keep the error if it is the first of a capture."""
        if self.error is not None or not isinstance(error, RuntimeError):
            return
        if _OF_A_CAPTURE.search(str(error)):
            self.error, self.places = error, users_frames(frame)


@contextmanager
def errors_raised() -> Iterator[Raised]:
    """Give what is kept of the errors that are raised inside, in this thread and in new ones.

    Traces Python: calls get slower. Another tracer is off meanwhile.
    """
    raised = Raised()

    def inside(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "exception":
            raised.note(arg[1], frame)
        return inside

    def enter(frame: FrameType, event: str, arg: object) -> Any:  # noqa: ARG001 - as Python calls it
        frame.f_trace_lines = False
        return inside

    before, before_in_threads = sys.gettrace(), threading.gettrace()
    threading.settrace(enter)
    sys.settrace(enter)
    try:
        yield raised
    finally:
        sys.settrace(before)
        threading.settrace(before_in_threads)
