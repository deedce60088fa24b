"""What a capture refuses: the messages CUDA gives, and the error that carries one."""

from __future__ import annotations

from dataclasses import dataclass

from capturelint.finding import Effect
from capturelint.operations.messages import NOT_PERMITTED, UNPINNED
from capturelint.verdict import Place

__all__ = [
    "CAPTURED_EVENT",
    "INVALIDATED",
    "ISOLATION",
    "NEW_SEED",
    "NOT_PERMITTED",
    "UNJOINED",
    "UNPINNED",
    "Refusal",
    "SimulatedCaptureError",
    "put_back",
]

# Further texts as an H200 with torch 2.11 gives them.
INVALIDATED = (
    "CUDA error: operation failed due to a previous error during capture "
    "(cudaErrorStreamCaptureInvalidated)"
)
UNJOINED = "CUDA error: capturing stream has unjoined work (cudaErrorStreamCaptureUnjoined)"
ISOLATION = (
    "CUDA error: dependency created on uncaptured work in another stream "
    "(cudaErrorStreamCaptureIsolation)"
)
CAPTURED_EVENT = (
    "CUDA error: operation not permitted on an event last recorded in a capturing stream "
    "(cudaErrorCapturedEvent)"
)

NEW_SEED = (
    "CUDAGeneratorImpl::set_current_seed can be called during stream capture only if new seed is "
    "the same as the original seed."
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """One operation that a capture refuses, or freezes.

    `message`: what CUDA or torch says. `kind`: the class of trap, such as `host-read`, `shape`,
    `host-copy`, `random`, `stream`, `library`. `operation`: as the dispatcher or torch names it.
    `code`: the rule about it, or "". `sticky`: CUDA also marks the capture invalid, so that ending
    it fails even if the error is swallowed. An effect other than `REFUSES` raises nothing: it is
    only listed as a hazard.
    """

    message: str
    kind: str
    operation: str
    code: str = ""
    effect: Effect = Effect.REFUSES
    sticky: bool = True


def put_back(operation: str) -> Refusal:
    """Return what putting the random numbers of the device back does to a graph."""
    text = "puts random numbers back while capturing, which a replay does not"
    return Refusal(text, "random", operation, effect=Effect.STALE, sticky=False)


class SimulatedCaptureError(RuntimeError):
    """The simulated capture refused an operation, as CUDA would.

    `places`: the user's frames at that moment, innermost first; also those above a handler that
    swallows the error, which its traceback does not reach.
    """

    def __init__(self, refusal: Refusal, places: tuple[Place, ...] = ()) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal
        self.places = places
