"""What an exception that ended a capture tells: the operation, the line, and how sure that is."""

from __future__ import annotations

import re
from typing import Any

from capturelint.debug.backend import CannotTellError
from capturelint.debug.frames import raised_at, sourced
from capturelint.debug.outcome import Outcome
from capturelint.verdict import Certainty, Evidence, Verdict

# What errors of captures have in their text, as torch 2.6 to 2.13 and CUDA 12 and 13 word them.
_OF_A_CAPTURE = re.compile(r"captur|CUDA|cuBLAS|CUBLAS|cuDNN|CUDNN|cuFFT|CUFFT|cusolver|NCCL")
_FOLLOWS_ANOTHER = "StreamCaptureInvalidated"


def refused(error: BaseException, *, before: BaseException | None) -> Outcome:
    """Return what a capture that ended with `error` showed.

    `before`: the exception that was being handled when it began, which is not its own.
    """
    chain = _chain(error, before)
    for one in chain:
        if isinstance(one, CannotTellError):
            return Outcome(Verdict.UNDECIDED, why=str(one))
    first = _oldest(chain)
    refusal: Any = getattr(first, "refusal", None)
    places = tuple(getattr(first, "places", ())) or raised_at(first)
    return Outcome(
        Verdict.REFUSES,
        places=tuple(sourced(place) for place in places),
        certainty=_certainty(first) if places else Certainty.MODULE_ONLY,
        operation="" if refusal is None else refusal.operation,
        message=_message(first),
        code="" if refusal is None else refusal.code,
        evidence=Evidence(exception=_described(first)),
    )


def _certainty(first: BaseException) -> Certainty:
    """Return how sure the line is: an invalid capture tells of an error before, now swallowed."""
    return Certainty.AT_OR_BEFORE if _FOLLOWS_ANOTHER in str(first) else Certainty.SHOWN


def cannot_tell(error: BaseException) -> str:
    """Return what the backend could not run faithfully, if that is why `error` was raised, or ""."""
    found = (one for one in _chain(error, None) if isinstance(one, CannotTellError))
    return next((str(one) for one in found), "")


def first_refused(error: BaseException) -> BaseException:
    """Return what a capture that the code makes by itself was refused first, else `error`."""
    return next((one for one in reversed(_chain(error, None)) if hasattr(one, "refusal")), error)


def _chain(error: BaseException, before: BaseException | None) -> list[BaseException]:
    """Return `error` and those it came of, the oldest last."""
    chain: list[BaseException] = []
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if one is before or any(one is known for known in chain):
            continue
        chain.append(one)
        waiting += [cause for cause in (one.__cause__, one.__context__) if cause is not None]
    return chain


def _oldest(chain: list[BaseException]) -> BaseException:
    """Return the first exception that has to do with the capture.

    A model may have handled others before: capturing then goes on inside its `except`.
    """
    of_a_capture = [one for one in chain if _is_of_a_capture(one)]
    return (of_a_capture or chain)[-1]


def _is_of_a_capture(error: BaseException) -> bool:
    return hasattr(error, "refusal") or _OF_A_CAPTURE.search(str(error)) is not None


def _message(error: BaseException) -> str:
    """Return what CUDA or torch said, or what else was raised; torch adds advice below it."""
    if _is_of_a_capture(error):
        return str(error).strip().partition("\n")[0]
    return first_line(error)


def first_line(error: BaseException) -> str:
    """Return the type of an exception and the first line of its text."""
    return _described(error).partition("\n")[0]


def _described(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
