"""The simulated device: its mode, the capture that is under way, and the parts that act on them."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

import torch

from capturelint.debug.backend import CannotTellError
from capturelint.debug.dispatched.hazards import Hazards
from capturelint.debug.dispatched.launches import Launches
from capturelint.debug.dispatched.refusal import Refusal, SimulatedCaptureError
from capturelint.debug.frames import users_frames
from capturelint.debug.simulated.capture import Capture
from capturelint.debug.simulated.device import registered
from capturelint.debug.simulated.dispatch import DeviceMode, dispatch
from capturelint.debug.simulated.libraries import Libraries
from capturelint.debug.simulated.pinned import PinnedMemory
from capturelint.debug.simulated.randomness import DeviceRandom
from capturelint.debug.simulated.streams import Streams
from capturelint.errors import shown_path
from capturelint.finding import Effect


class Mode(Enum):
    """What the device does with work."""

    EAGER = "eager"
    CAPTURING = "capturing"
    AS_IF_CAPTURING = "as if capturing"  # runs at once; refusals are listed, not raised


class Simulator:
    """The state that all parts of one session share. One per session; tensors know theirs.

    `capture`: the capture under way, also as if capturing; None when eager. `streams`, `random`,
    `pinned`, `libraries`: the parts of the device. `hazards`: gathered as if capturing, else None.
    `launches`: what an eager call runs, while that is recorded, else None. `unsupported`: what
    could not be run faithfully, in words; `notes`: what the user must know, such as parts that ran
    otherwise. `seen_by_cpp`: the device's name for C++. `capture_error_mode`: as torch has it.

    What the core calls on its parts:

    - `streams.current` (of this thread), `streams.default`, `streams.new()`,
      `streams.using(stream)` (a context); `streams.begin(capture)` and `streams.end(capture)`:
      join `capture.stream`, and forget who joined; `streams.unjoined(capture)`: those with work
      that `capture.stream` does not wait for. `SimulatedStream.capture`: the capture that the
      stream is part of now, or None; `SimulatedStream.worked()`: it was given work while part of a
      capture (on another stream than `capture.stream` the user's frames are kept as `.places`, for
      the unjoined). A stream that joins is put into `capture.streams`, which keeps it alive.
    - `random.take()`: advance by one operation and return its offset, while `is_capturing` relative
      to the start of the capture (`capture.drawn` is advanced), else absolute;
      `random.drawing(offset)`: a context in which torch's default host generator draws the numbers
      of that offset; `random.replaying(total, seed)`: advance by what one replay draws and return the
      position that it starts from.
    - `pinned.holds(tensor)`, `pinned.add(tensor) -> tensor`: of plain host tensors, by storage.
    - `libraries.use(func, args, kwargs)`: an operation runs; refuses when it first uses its library in a capture.
    - `traps.refusal_of(func, args, kwargs, simulator) -> Refusal | None`: asked for each operation
      on the device while `capture` is not None, before it runs; must be cheap for most.
    - `surroundings.patched(simulator)`: a context in which `torch.cuda` and its like answer for the
      simulated device; a thread started in it runs inside `simulator.dispatching()`.
    """

    def __init__(self, capture_error_mode: str = "global") -> None:
        self.capture_error_mode = capture_error_mode
        self.capture: Capture | None = None
        self.streams = Streams(self)
        self.random = DeviceRandom(self)
        self.pinned = PinnedMemory()
        self.libraries = Libraries(self)
        self.hazards: Hazards | None = None
        self.launches: Launches | None = None
        self.unsupported: list[str] = []
        self.notes: list[str] = []
        self.seen_by_cpp = registered()

    @property
    def mode(self) -> Mode:
        """Return what the device does with work now."""
        if self.capture is None:
            return Mode.EAGER
        return Mode.CAPTURING if self.is_capturing else Mode.AS_IF_CAPTURING

    @property
    def is_capturing(self) -> bool:
        """Return whether work is recorded, not only looked at as if."""
        return self.capture is not None and self.capture.tape is not None

    def is_capturing_here(self) -> bool:
        """Return whether the current stream is part of a capture, also as if capturing."""
        return self.capture is not None and self.streams.current.capture is self.capture

    def is_in_capturing_thread(self) -> bool:
        """Return whether this thread is the one that captures."""
        return self.capture is not None and self.capture.thread == threading.get_ident()

    def is_pinned(self, tensor: torch.Tensor) -> bool:
        """Return whether a plain tensor lies in pinned memory."""
        return self.pinned.holds(tensor)

    def is_foreign(self, generator: torch.Generator) -> bool:
        """Return whether a generator is not the default one, which is registered with each graph.

        Raises RuntimeError if it is the host's.
        """
        return self.random.known(generator) is not self.random.default

    def refuse(self, refusal: Refusal) -> None:
        """Do what CUDA does with a forbidden operation: nothing when eager.

        Raises SimulatedCaptureError when capturing; lists a hazard and goes on as if capturing.
        """
        if self.capture is None:
            return
        places = users_frames()
        if self.hazards is not None:
            self.hazards.add(refusal, places)
        elif refusal.effect is Effect.REFUSES:
            error = SimulatedCaptureError(refusal, places)
            self.capture.refuses(error)
            raise error

    def cannot_tell(self, what: str) -> CannotTellError:
        """Return the error to raise for `what` cannot be run faithfully, and remember it.

        With the user's line that asks for it.
        """
        place = next(iter(users_frames(limit=1)), None)
        text = what if place is None else f"{what}, at {shown_path(place.path)}:{place.line}"
        if text not in self.unsupported:
            self.unsupported.append(text)
        return CannotTellError(f"{what} cannot be simulated{text.removeprefix(what)}")

    def note(self, text: str) -> None:
        """Remember what the user must know about this run, once."""
        if text not in self.notes:
            self.notes.append(text)

    def dispatch(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run one operation on the device."""
        return dispatch(self, func, types, args, kwargs)

    @contextmanager
    def dispatching(self) -> Iterator[None]:
        """Return a context in which the operations of this thread come to the simulator."""
        before = torch._C._only_lift_cpu_tensors()
        # So that a copy of Python numbers to the device is seen.
        torch._C._set_only_lift_cpu_tensors(True)  # noqa: FBT003 - torch takes no keyword
        try:
            # The device has no threads of its own for backward.
            with torch.autograd.set_multithreading_enabled(False), DeviceMode(self):
                yield
        finally:
            torch._C._set_only_lift_cpu_tensors(before)
