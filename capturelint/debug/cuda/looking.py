"""Run eagerly as if capturing on the device, and put back all that was exchanged for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import torch

from capturelint.debug.cuda.device import CudaDevice
from capturelint.debug.cuda.look import Look
from capturelint.debug.cuda.modes import LookingMode, all_seen
from capturelint.debug.cuda.order import Order
from capturelint.debug.cuda.questions import put_questions
from capturelint.debug.dispatched.hazards import Hazards
from capturelint.debug.dispatched.patches import Patches
from capturelint.debug.sync_mode import OnSync, on_sync


@contextmanager
def looking(
    module: Callable[[], str], *, stream: torch.cuda.Stream, mode: str, compiled: bool
) -> Iterator[Hazards]:
    """Give a context in which code takes itself for captured, and the hazards met in it.

    `stream`: to run on. `mode`: of the capture that it is as if. `compiled`: without a dispatch
    mode, which would let compiled code run eagerly: waits are seen, unpinned copies are not.
    """
    hazards = Hazards(module)
    order = Order(int(stream.cuda_stream))
    look = Look(hazards, CudaDevice(), order, mode, home=stream.device_index)
    new_mode = None if compiled else lambda: LookingMode(look)
    patches = Patches()
    with ExitStack() as stack:
        stack.enter_context(on_stream(stream))
        stack.enter_context(warnings.catch_warnings())
        # Else Python shows each line's warning once.
        warnings.simplefilter("always")
        stack.enter_context(all_seen())
        stack.callback(patches.put_back)
        put_questions(patches, look, new_mode)
        stack.enter_context(on_sync(OnSync.WARN))
        if new_mode is not None:
            stack.enter_context(new_mode())
        yield hazards
        look.end()


@contextmanager
def on_stream(stream: torch.cuda.Stream) -> Iterator[None]:
    """Run what is inside on `stream`, after all before it; what comes after it waits for all of it."""
    stream.wait_stream(torch.cuda.current_stream())
    try:
        with torch.cuda.stream(stream):
            yield
    finally:
        # Streams of the user's that nothing waits for as well.
        torch.cuda.synchronize()
