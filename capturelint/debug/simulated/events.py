"""Events of the simulated device: how streams join a capture, and what may be asked of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from capturelint.debug.dispatched.refusal import CAPTURED_EVENT, ISOLATION, NOT_PERMITTED, Refusal

if TYPE_CHECKING:
    from capturelint.debug.simulated.capture import Capture
    from capturelint.debug.simulated.streams import SimulatedStream, Streams


class SimulatedEvent:
    """One event, to user code a `torch.cuda.Event`.

    An event that was recorded on a stream of a capture belongs to that capture. One recorded
    elsewhere cannot be waited for inside it. One never recorded is waited for at once.
    """

    cuda_event = 0
    event_id = 0

    def __init__(self, streams: Streams, *, is_timing: bool = False) -> None:
        self._streams = streams
        self._is_timing = is_timing
        self._is_recorded = False
        self._capture: Capture | None = None
        self._clock: dict[int, int] = {}

    @property  # type: ignore[misc]  # only read
    def __class__(self) -> Any:
        """Pass for an event of torch, whose class needs a CUDA driver."""
        return torch.cuda.Event

    @property
    def device(self) -> torch.device:
        return self._streams.default.device

    def record(self, stream: SimulatedStream | None = None) -> None:
        stream = self._streams.current if stream is None else stream
        self._is_recorded = True
        self._capture = stream.capture
        self._clock = dict(stream.clock)

    def wait(self, stream: SimulatedStream | None = None) -> None:
        stream = self._streams.current if stream is None else stream
        capture = self._streams.simulator.capture
        if capture is None or not self._is_recorded:
            return
        if self._capture is capture:
            stream.waits_for(capture, self._clock)
        elif stream.capture is capture:
            self._streams.simulator.refuse(Refusal(ISOLATION, "stream", "torch.cuda.Event.wait"))

    def query(self) -> bool:
        self._ask("torch.cuda.Event.query")
        return True

    def synchronize(self) -> None:
        self._ask("torch.cuda.Event.synchronize")

    def elapsed_time(self, end_event: SimulatedEvent) -> float:
        if not (self._is_timing and end_event._is_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        self._ask("torch.cuda.Event.elapsed_time")
        end_event._ask("torch.cuda.Event.elapsed_time")
        return 0.0

    def _ask(self, operation: str) -> None:
        capture = self._streams.simulator.capture
        if capture is None or not self._is_recorded:
            return
        message = CAPTURED_EVENT if self._capture is capture else NOT_PERMITTED
        self._streams.refuse(operation, message)

    def __deepcopy__(self, _memo: object) -> SimulatedEvent:
        """Stay what it is in a copy of a module that holds it."""
        return self

    def __repr__(self) -> str:
        return "<torch.cuda.Event simulated>"
