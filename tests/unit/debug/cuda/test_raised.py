"""Errors of a capture are seen when they are raised, also those that the code swallows."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable

import pytest

from capturelint.debug.cuda.raised import GUARD, Raised, errors_raised


def _line(of: Callable[..., object], offset: int) -> tuple[str, int]:
    code = of.__code__
    return code.co_filename, code.co_firstlineno + offset


def _at(raised: Raised) -> tuple[str, int]:
    return raised.places[0].path, raised.places[0].line


def _sync() -> None:
    raise RuntimeError(GUARD)


def _swallows() -> str:
    try:
        _sync()
    except RuntimeError:
        return "swallowed"
    return "not raised"


def test_an_error_that_is_swallowed_is_seen_with_its_line() -> None:
    with errors_raised() as raised:
        got = _swallows()

    assert got == "swallowed"
    assert str(raised.error) == GUARD
    assert _at(raised) == _line(_sync, 1)
    assert raised.places[1].line == _line(_swallows, 2)[1]


def test_the_first_of_several_is_kept() -> None:
    def twice() -> None:
        _swallows()
        raise RuntimeError("CUDA error: operation failed (cudaErrorStreamCaptureInvalidated)")

    with pytest.raises(RuntimeError, match="Invalidated"), errors_raised() as raised:
        twice()

    assert _at(raised) == _line(_sync, 1)


def test_other_errors_of_the_code_are_its_own_business() -> None:
    def falls_back() -> None:
        for error in (KeyError("CUDA error"), RuntimeError("shapes differ")):
            try:
                raise error
            except (KeyError, RuntimeError):
                continue

    with errors_raised() as raised:
        falls_back()

    assert raised == Raised()


def test_an_error_in_a_thread_that_is_started_inside_is_seen() -> None:
    with errors_raised() as raised:
        thread = threading.Thread(target=_swallows)
        thread.start()
        thread.join()

    assert _at(raised) == _line(_sync, 1)


def test_the_tracer_of_before_is_back() -> None:
    def tracer(*_: object) -> None:
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        with errors_raised():
            inside = sys.gettrace()
        after = sys.gettrace()
    finally:
        sys.settrace(before)

    assert inside is not tracer
    assert after is tracer
    assert inspect.isfunction(inside)
