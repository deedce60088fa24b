"""What a failed capture says: the first error, the operation and CUDA's words for it."""

from __future__ import annotations

import pytest

from capturelint.debug.attempts.refused import refused
from capturelint.debug.cuda.explained import with_refusals
from capturelint.debug.cuda.raised import GUARD, Raised
from capturelint.debug.dispatched.refusal import INVALIDATED, NOT_PERMITTED
from capturelint.debug.outcome import Outcome
from capturelint.finding import Effect
from capturelint.verdict import Certainty, Hazard, Place, Verdict

LINE = Place("/model.py", 12, "forward", "n = int(x.sum())")
READ = Hazard(
    LINE, "", "aten._local_scalar_dense.default", Effect.REFUSES, NOT_PERMITTED, code="CL101"
)
LISTED = {(LINE.path, LINE.line): READ}


def _outcome(error: Exception, seen: Raised, listed: dict[tuple[str, int], Hazard]) -> Outcome:
    with_refusals(error, seen, listed)
    return refused(error, before=None)


def test_what_torch_stopped_first_is_told_in_the_words_of_cuda() -> None:
    error = RuntimeError(GUARD)

    outcome = _outcome(error, Raised(error, (LINE,)), LISTED)

    assert (outcome.verdict, outcome.places) == (Verdict.REFUSES, (LINE,))
    assert (outcome.operation, outcome.code) == (READ.operation, "CL101")
    assert outcome.message == NOT_PERMITTED
    assert outcome.evidence.exception == f"RuntimeError: {GUARD}"


def test_a_line_that_was_not_listed_has_no_operation_of_its_own() -> None:
    error = RuntimeError(GUARD)

    outcome = _outcome(error, Raised(error, (LINE,)), {})

    assert (outcome.operation, outcome.code) == ("a synchronizing operation", "")
    assert outcome.message == NOT_PERMITTED


def test_an_error_that_was_swallowed_is_to_blame_and_not_what_followed() -> None:
    swallowed = RuntimeError(GUARD)
    followed = RuntimeError(INVALIDATED)

    outcome = _outcome(followed, Raised(swallowed, (LINE,)), LISTED)

    assert (outcome.places, outcome.certainty) == ((LINE,), Certainty.SHOWN)
    assert outcome.message == NOT_PERMITTED


def test_an_invalid_capture_of_which_nothing_was_seen_tells_no_line() -> None:
    outcome = _outcome(RuntimeError(INVALIDATED), Raised(), LISTED)

    assert (outcome.places, outcome.certainty) == ((), Certainty.MODULE_ONLY)
    assert outcome.message == INVALIDATED


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        (
            "CUDA error: capturing stream has unjoined work (cudaErrorStreamCaptureUnjoined)",
            "capture end",
        ),
        (
            "Cannot prepare for replay during capturing stage. during CUDA graph capture.",
            "torch.cuda.CUDAGraph.replay",
        ),
    ],
)
def test_what_passes_no_line_is_named_as_the_look_names_it(text: str, operation: str) -> None:
    outcome = _outcome(RuntimeError(f"{text}\nmore"), Raised(), {})

    assert (outcome.operation, outcome.message) == (operation, text)


def test_what_cuda_itself_said_stays_and_gains_the_operation() -> None:
    text = "CUDA error: operation not permitted on an event last recorded in a capturing stream"
    error = RuntimeError(f"{text}\nSearch for it")

    outcome = _outcome(error, Raised(error, (LINE,)), LISTED)

    assert (outcome.message, outcome.operation) == (text, READ.operation)
