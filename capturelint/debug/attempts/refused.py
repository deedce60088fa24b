"""What an exception that ended a capture tells: the operation, the line, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from capturelint.debug.backend import CannotTellError
from capturelint.debug.chains import chain_of, is_of_capture, oldest_of_capture
from capturelint.debug.frames import raised_at, sourced
from capturelint.debug.outcome import Outcome
from capturelint.verdict import Certainty, Evidence, Place, Verdict

_FOLLOWS_ANOTHER = "StreamCaptureInvalidated"


def refused(error: BaseException, *, before: BaseException | None) -> Outcome:
    """Return what a capture that ended with `error` showed.

    `before`: the exception that was being handled when it began, which is not its own.
    """
    chain = chain_of(error, before=before)
    for one in chain:
        if isinstance(one, CannotTellError):
            return Outcome(Verdict.UNDECIDED, why=str(one))
        if isinstance(one, torch.OutOfMemoryError):
            return Outcome(Verdict.UNDECIDED, why=f"no memory was left to capture it: {one}")
    first = oldest_of_capture(chain)
    refusal: Any = getattr(first, "refusal", None)
    places = tuple(getattr(first, "places", ())) or _passed(first, chain)
    return Outcome(
        Verdict.REFUSES,
        places=tuple(sourced(place) for place in places),
        certainty=_certainty(first) if places else Certainty.MODULE_ONLY,
        operation="" if refusal is None else refusal.operation,
        message=_message(first),
        code="" if refusal is None else refusal.code,
        evidence=Evidence(exception=_described(first)),
    )


def _passed(first: BaseException, chain: Sequence[BaseException]) -> tuple[Place, ...]:
    """Return the user's frames that the first error passed through, or else what came of it.

    A library may catch one error and raise another that says more.
    """
    later = chain[: [one is first for one in chain].index(True)]
    errors = (first, *reversed(later))
    return next((places for one in errors if (places := raised_at(one))), ())


def _certainty(first: BaseException) -> Certainty:
    """Return how sure the line is: an invalid capture tells of an error before, now swallowed."""
    return Certainty.AT_OR_BEFORE if _FOLLOWS_ANOTHER in str(first) else Certainty.SHOWN


def cannot_tell(error: BaseException) -> str:
    """Return what the backend could not run faithfully, if that is why `error` was raised, or ""."""
    found = (one for one in chain_of(error) if isinstance(one, CannotTellError))
    return next((str(one) for one in found), "")


def first_refused(error: BaseException) -> BaseException:
    """Return what a capture that the code makes by itself was refused first, else `error`."""
    return next((one for one in reversed(chain_of(error)) if hasattr(one, "refusal")), error)


def _message(error: BaseException) -> str:
    """Return what CUDA or torch said, or what else was raised; torch adds advice below it."""
    refusal: Any = getattr(error, "refusal", None)
    if refusal is not None:
        return str(refusal.message).strip().partition("\n")[0]
    if is_of_capture(error):
        return str(error).strip().partition("\n")[0]
    return first_line(error)


def first_line(error: BaseException) -> str:
    """Return the type of an exception and the first line of its text."""
    return _described(error).partition("\n")[0]


def _described(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
