"""One capture from its begin to its end: what it may see, and what ends it badly."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from capturelint.debug.dispatched.refusal import (
    INVALIDATED,
    UNJOINED,
    Refusal,
    SimulatedCaptureError,
)
from capturelint.debug.simulated.tape import Tape

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator
    from capturelint.debug.simulated.streams import SimulatedStream
    from capturelint.verdict import Place

_TORCHSCRIPT = "failed in the TorchScript interpreter"


class Capture:
    """The state of one capture, real or as if.

    `stream`: where it began. `thread`: that began it. `streams`: all that joined it, kept alive
    until it ends, since work on a forgotten stream is still unjoined. `drawn`: how far its random
    numbers have moved on. `refused`: the last refusal that was raised; `invalid`: the first after
    which CUDA lets no capture end well. `tape`: where the work is recorded; None as if capturing.
    """

    def __init__(self, stream: SimulatedStream, tape: Tape | None) -> None:
        self.stream = stream
        self.thread = threading.get_ident()
        self.streams: list[SimulatedStream] = []
        self.drawn = 0
        self.refused: SimulatedCaptureError | None = None
        self.invalid: SimulatedCaptureError | None = None
        self.tape = tape

    def refuses(self, error: SimulatedCaptureError) -> None:
        """Remember a refusal that is about to be raised."""
        self.refused = error
        if error.refusal.sticky and self.invalid is None:
            self.invalid = error


@contextmanager
def capturing(simulator: Simulator) -> Iterator[Tape]:
    """Record what runs inside on a stream of its own, into the tape.

    Raises SimulatedCaptureError at the end if the capture became invalid, whatever was swallowed,
    or if work on another stream was left unjoined.
    """
    tape = Tape(simulator.pinned)
    with _begun(simulator, tape) as capture:
        try:
            yield tape
        except BaseException as error:
            _add_lost_refusal(error, capture)
            raise
        unjoined = _unjoined(simulator, capture)
    if capture.invalid is not None:
        raise _ended_badly(capture.invalid)
    if unjoined is not None:
        raise SimulatedCaptureError(*unjoined)


@contextmanager
def looking(simulator: Simulator) -> Iterator[None]:
    """Run what is inside eagerly as if it were captured: refusals become hazards."""
    with _begun(simulator, None) as capture:
        yield
        unjoined = _unjoined(simulator, capture)
        if unjoined is not None and simulator.hazards is not None:
            simulator.hazards.add(*unjoined)


@contextmanager
def _begun(simulator: Simulator, tape: Tape | None) -> Iterator[Capture]:
    streams = simulator.streams
    capture = Capture(streams.new(), tape)
    simulator.capture = capture
    streams.begin(capture)
    try:
        with streams.using(capture.stream):
            yield capture
    finally:
        streams.end(capture)
        simulator.capture = None
        if tape is not None:
            tape.end(drawn=capture.drawn, seed=simulator.random.seed)


def _ended_badly(swallowed: SimulatedCaptureError) -> SimulatedCaptureError:
    error = SimulatedCaptureError(Refusal(INVALIDATED, "end", "capture end"), swallowed.places)
    error.__context__ = swallowed
    return error


def _add_lost_refusal(error: BaseException, capture: Capture) -> None:
    """Put the refusal that led to `error` at the end of the chain of errors, if it got lost.

    After a swallowed refusal the next operation fails on CUDA. TorchScript raises an error of its
    own for one in an operation.
    """
    refused = capture.invalid or capture.refused
    if refused is None or (capture.invalid is None and _TORCHSCRIPT not in str(error)):
        return
    chain = _chain(error)
    if refused not in chain and chain[-1] not in _chain(refused):
        chain[-1].__context__ = refused


def _chain(error: BaseException) -> list[BaseException]:
    """Return an error and those that it was raised while handling, newest first."""
    chain = [error]
    while chain[-1].__context__ is not None and chain[-1].__context__ not in chain:
        chain.append(chain[-1].__context__)
    return chain


def _unjoined(simulator: Simulator, capture: Capture) -> tuple[Refusal, tuple[Place, ...]] | None:
    """Return why the capture cannot end, and the last unjoined work, or None if all is joined."""
    streams = simulator.streams.unjoined(capture)
    if not streams:
        return None
    return Refusal(UNJOINED, "stream", "capture end", sticky=False), streams[0].places
