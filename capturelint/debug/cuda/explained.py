"""What CUDA would have said where torch stopped an operation first, and which operation it was."""

from __future__ import annotations

from collections.abc import Mapping

from capturelint.debug.chains import chain_of, oldest_of_capture
from capturelint.debug.cuda.look import SYNCHRONIZING
from capturelint.debug.cuda.raised import GUARD, Raised
from capturelint.debug.dispatched.refusal import NOT_PERMITTED, Refusal
from capturelint.debug.frames import raised_at
from capturelint.verdict import Hazard

# What errors that need no line of the user's come of, as a look names it.
_OPERATIONS = {
    "cudaErrorStreamCaptureUnjoined": "capture end",
    "Cannot prepare for replay during capturing": "torch.cuda.CUDAGraph.replay",
}


def with_refusals(
    error: BaseException, seen: Raised, listed: Mapping[tuple[str, int], Hazard]
) -> None:
    """Write onto the first error of a failed capture what was refused, for its outcome.

    `seen`: the first error that was raised, also if it was swallowed: then it is put at the end of
    the chain. `listed`: hazards seen before by file and line, which know their operations.
    """
    chain = chain_of(error)
    first = seen.error or oldest_of_capture(chain)
    if all(one is not first for one in chain):
        chain[-1].__context__ = first
    if first is seen.error:
        _put(first, "places", seen.places)
    passed = (raised_at(one) for one in (first, *reversed(chain)))
    places = seen.places if first is seen.error else next(filter(None, passed), ())
    at = (places[0].path, places[0].line) if places else None
    refusal = _refusal(str(first), None if at is None else listed.get(at))
    if refusal is not None:
        _put(first, "refusal", refusal)


def _refusal(text: str, known: Hazard | None) -> Refusal | None:
    operation = known.operation if known is not None else ""
    operation = operation or next((one for sign, one in _OPERATIONS.items() if sign in text), "")
    code = known.code if known is not None else ""
    if GUARD in text:
        message = known.message if known is not None else NOT_PERMITTED
        return Refusal(message, "host-read", operation or SYNCHRONIZING, code)
    if not operation:
        return None
    return Refusal(text.strip().partition("\n")[0], "", operation, code)


def _put(error: BaseException, name: str, value: object) -> None:
    setattr(error, name, value)
