"""Copies of our process that user code forks: they run its code to the end, and none of ours."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType

_OURS = f"{Path(__file__).parents[1]}{os.sep}"
# Tensors are the simulator's in a copy too.
_EVERYBODYS = f"{_OURS}simulated{os.sep}"


def end_copies_that_return() -> None:
    """From now on, end each copy of this process when the code that forked it returns to ours.

    Without that, a model that forks at each call would double the processes each time.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_end_on_return)


def _end_on_return() -> None:
    called: FrameType | None = sys._getframe(1)  # noqa: SLF001 - no other way to walk the stack
    while called is not None and not _is_ours(called.f_back):
        called = called.f_back
    if called is None:  # a thread of the user's, which has nowhere to return to
        return

    def end(frame: FrameType, event: str, _: object) -> None:
        # An exception that leaves the frame is a return as well.
        if frame is called and event == "return":
            os._exit(0)

    # Calls in the copy get slower. One that a model forks to do work is rare.
    sys.setprofile(end)


def _is_ours(frame: FrameType | None) -> bool:
    if frame is None:
        return False
    path = frame.f_code.co_filename
    return path.startswith(_OURS) and not path.startswith(_EVERYBODYS)
