"""Streams of the simulated device: which are part of a capture, and which work is unjoined."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from capturelint.debug.dispatched.refusal import NOT_PERMITTED, Refusal
from capturelint.debug.frames import users_frames
from capturelint.debug.simulated.device import CUDA

if TYPE_CHECKING:
    from capturelint.debug.simulated.capture import Capture
    from capturelint.debug.simulated.events import SimulatedEvent
    from capturelint.debug.simulated.simulator import Simulator
    from capturelint.verdict import Place

_CUDA_TYPE = 1  # of a device, as `stream.device_type` gives it


class SimulatedStream:
    """One stream, to user code a `torch.cuda.Stream`.

    `capture`: the one that it is part of now, or None. `places`: where its last work in a capture
    came from. `clock`: how much work of each stream, by number, is known to be done before what is
    put on this one next.
    """

    device = CUDA
    device_index = 0
    device_type = _CUDA_TYPE

    def __init__(self, streams: Streams, number: int, priority: int = 0) -> None:
        self._streams = streams
        self.stream_id = number
        self.priority = priority
        self.capture: Capture | None = None
        self.places: tuple[Place, ...] = ()
        self.clock: dict[int, int] = {}

    @property  # type: ignore[misc]  # only read
    def __class__(self) -> Any:
        """Pass for a stream of torch, whose class needs a CUDA driver."""
        return torch.cuda.Stream

    @property
    def cuda_stream(self) -> int:
        """Return its handle: 0 for the default stream."""
        return self.stream_id

    def worked(self) -> None:
        """Note that it was given work while part of a capture."""
        self.clock[self.stream_id] = self.clock.get(self.stream_id, 0) + 1
        if self.capture is not None and self.capture.stream is not self:
            self.places = users_frames()

    def waits_for(self, capture: Capture, clock: dict[int, int]) -> None:
        """Put what a captured event saw before the next work, and join the event's capture."""
        if self.capture is not capture:
            self.joins(capture)
        for number, amount in clock.items():
            self.clock[number] = max(amount, self.clock.get(number, 0))

    def joins(self, capture: Capture) -> None:
        """Become part of a capture."""
        self.capture = capture
        self.clock = {}
        capture.streams.append(self)

    def leaves(self) -> None:
        """Be part of no capture any more."""
        self.capture = None
        self.clock = {}

    def is_capturing(self) -> bool:
        return self.capture is not None

    def query(self) -> bool:
        self._streams.refuse("torch.cuda.Stream.query")
        return True

    def synchronize(self) -> None:
        self._streams.refuse("torch.cuda.Stream.synchronize")

    def record_event(self, event: SimulatedEvent | None = None) -> SimulatedEvent:
        event = self._streams.event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: SimulatedEvent) -> None:
        event.wait(self)

    def wait_stream(self, stream: SimulatedStream) -> None:
        self.wait_event(stream.record_event())

    def __enter__(self) -> SimulatedStream:
        self._streams.push(self)
        return self

    def __exit__(self, *_error: object) -> None:
        self._streams.pop()

    def __deepcopy__(self, _memo: object) -> SimulatedStream:
        """Stay what it is in a copy of a module that holds it."""
        return self

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class Streams:
    """All streams of a session, and the current one of each thread.

    None is ever forgotten: work on a stream that is local to a `forward` is unjoined all the same.
    """

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator
        self._all: dict[int, SimulatedStream] = {}
        self._threads = threading.local()
        self.default = self.new()

    def new(self, priority: int = 0) -> SimulatedStream:
        """Return a new stream. It is not current yet."""
        stream = SimulatedStream(self, len(self._all), priority)
        self._all[stream.stream_id] = stream
        return stream

    def event(self, *, is_timing: bool = False) -> SimulatedEvent:
        """Return a new event, which was not recorded."""
        from capturelint.debug.simulated.events import SimulatedEvent

        return SimulatedEvent(self, is_timing=is_timing)

    def numbered(self, number: int) -> SimulatedStream:
        """Return the stream that has `number`. Raises KeyError if none has."""
        return self._all[number]

    @property
    def current(self) -> SimulatedStream:
        """Return the current stream of this thread."""
        stream: SimulatedStream = getattr(self._threads, "current", self.default)
        return stream

    @current.setter
    def current(self, stream: SimulatedStream) -> None:
        self._threads.current = stream

    def push(self, stream: SimulatedStream) -> None:
        """Make a stream the current one until `pop`."""
        entered = self._threads.__dict__.setdefault("entered", [])
        entered.append(self.current)
        self.current = stream

    def pop(self) -> None:
        """Go back to the stream that was current before the last `push` in this thread."""
        self.current = self._threads.entered.pop()

    @contextmanager
    def using(self, stream: SimulatedStream) -> Iterator[None]:
        """Return a context in which `stream` is the current one, whatever is set inside."""
        before = self.current
        self.current = stream
        try:
            yield
        finally:
            self.current = before

    def begin(self, capture: Capture) -> None:
        """Let `capture.stream` be part of the capture."""
        capture.stream.joins(capture)

    def end(self, capture: Capture) -> None:
        """Let no stream be part of the capture any more."""
        for stream in capture.streams:
            stream.leaves()

    def unjoined(self, capture: Capture) -> list[SimulatedStream]:
        """Return the streams with work that `capture.stream` does not wait for."""
        known = capture.stream.clock
        return [
            stream
            for stream in capture.streams
            if stream is not capture.stream
            and stream.clock.get(stream.stream_id, 0) > known.get(stream.stream_id, 0)
        ]

    def refuse(self, operation: str, message: str = NOT_PERMITTED, code: str = "CL701") -> None:
        """Refuse a call that waits for the device, on whatever stream: CUDA does in every thread."""
        self.simulator.refuse(Refusal(message, "stream", operation, code=code))
