"""What is read from the exceptions that end captures."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch

from capturelint.debug.attempts.refused import cannot_tell, first_line, refused
from capturelint.debug.backend import CannotTellError
from capturelint.debug.outcome import Outcome
from capturelint.verdict import Certainty, Evidence, Place, Verdict

_NOT_PERMITTED = (
    "CUDA error: operation not permitted when stream is capturing\n"
    "CUDA kernel errors might be asynchronously reported at some other API call"
)
_INVALIDATED = "CUDA error: operation failed (cudaErrorStreamCaptureInvalidated)"


class RefusedError(RuntimeError):
    """Tells what it refused and where, as the simulator's does."""

    def __init__(self, *places: Place) -> None:
        super().__init__("not while capturing")
        self.places = places
        self.refusal = SimpleNamespace(
            operation="aten.item", code="CL101", message="not while capturing"
        )


def _caught(function: Callable[[], object]) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever it is
        function()
    return caught.value


def _op() -> None:
    raise RuntimeError(_NOT_PERMITTED)


def _end_of_a_capture() -> None:
    try:
        _op()
    finally:
        raise RuntimeError(_INVALIDATED)


def _raise(error: Exception) -> None:
    raise error


def _sources(outcome: Outcome) -> list[str]:
    return [place.source for place in outcome.places]


def test_the_oldest_exception_tells_the_line() -> None:
    found = refused(_caught(_end_of_a_capture), before=None)

    assert (found.verdict, found.certainty) == (Verdict.REFUSES, Certainty.SHOWN)
    assert _sources(found) == ["raise RuntimeError(_NOT_PERMITTED)", "_op()"]
    assert found.message == "CUDA error: operation not permitted when stream is capturing"
    assert found.evidence == Evidence(exception=f"RuntimeError: {_NOT_PERMITTED}")


def test_what_follows_a_swallowed_error_is_at_or_after_it() -> None:
    def fail() -> None:
        raise RuntimeError(_INVALIDATED)

    assert refused(_caught(fail), before=None).certainty is Certainty.AT_OR_BEFORE


def test_an_error_that_passed_no_line_of_the_users_blames_the_module() -> None:
    found = refused(RuntimeError(_INVALIDATED), before=None)

    assert (found.places, found.certainty) == ((), Certainty.MODULE_ONLY)


def test_what_the_backend_tells_is_taken() -> None:
    place = Place("model.py", 3, "forward", "x.item()")

    assert refused(RefusedError(place), before=None) == Outcome(
        Verdict.REFUSES,
        places=(place,),
        operation="aten.item",
        message="not while capturing",
        code="CL101",
        evidence=Evidence(exception="RefusedError: not while capturing"),
    )


def test_what_was_handled_before_has_nothing_to_do_with_it() -> None:
    def fail() -> None:
        try:
            _raise(KeyError("no fast path"))
        except KeyError:
            _op()

    assert _sources(refused(_caught(fail), before=None))[0] == "raise RuntimeError(_NOT_PERMITTED)"


def test_what_was_being_handled_when_the_capture_began_is_not_its_own() -> None:
    def fail() -> None:
        raise ValueError("only eager")

    handled = KeyError("ours")
    error = _caught(fail)
    error.__context__ = handled

    found = refused(error, before=handled)

    assert (found.message, found.evidence.exception) == ((("ValueError: only eager"),) * 2)


def test_the_first_of_the_models_own_exceptions_tells_the_line() -> None:
    def fail() -> None:
        try:
            _raise(KeyError("scale"))
        except KeyError as error:
            raise TypeError("cannot run") from error

    assert _sources(refused(_caught(fail), before=None)) == [
        "raise error",
        '_raise(KeyError("scale"))',
    ]


def test_what_cannot_be_simulated_is_undecided() -> None:
    def fail() -> None:
        try:
            _raise(CannotTellError("custom.op cannot be simulated"))
        except CannotTellError:
            raise RuntimeError(_INVALIDATED) from None

    error = _caught(fail)

    assert refused(error, before=None) == Outcome(
        Verdict.UNDECIDED, why="custom.op cannot be simulated"
    )
    assert cannot_tell(error) == "custom.op cannot be simulated"
    assert cannot_tell(ValueError()) == ""


def test_exceptions_that_caused_each_other_end() -> None:
    first, second = ValueError("a"), ValueError("b")
    first.__context__, second.__context__ = second, first

    assert refused(first, before=None).message == "ValueError: b"


def test_the_first_line_names_the_type() -> None:
    assert first_line(ValueError("one\ntwo")) == "ValueError: one"
    assert first_line(NotImplementedError()) == "NotImplementedError"


def test_out_of_memory_while_capturing_is_no_refusal() -> None:
    def fill() -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9.00 GiB")

    outcome = refused(_caught(fill), before=None)

    assert (outcome.verdict, outcome.why) == (
        Verdict.UNDECIDED,
        "no memory was left to capture it: CUDA out of memory. Tried to allocate 9.00 GiB",
    )


def test_the_line_is_found_though_a_library_caught_the_first_error() -> None:
    library = """
def call():
    try:
        raise RuntimeError("Cannot prepare for replay during capturing stage.")
    except RuntimeError:
        raise ValueError("it failed")
"""
    names: dict[str, Callable[[], None]] = {}
    exec(compile(library, "<string>", "exec"), names)

    def users() -> None:
        names["call"]()

    outcome = refused(_caught(users), before=None)

    assert outcome.message == "Cannot prepare for replay during capturing stage."
    assert outcome.places[0].line == users.__code__.co_firstlineno + 1
