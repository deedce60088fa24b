"""Run tests that need a simulated device each in a process of its own: its traces stay there."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend

    Body = Callable[[SimulatedBackend], object]
    InSession = Callable[[Body], None]


@pytest.fixture
def in_session() -> InSession:
    """Return what runs a function, given the backend, in a forked process inside a session.

    What the function raises fails the test, with its traceback.
    """
    # Imported before the fork, where it takes seconds only once.
    import capturelint.debug.simulated  # noqa: F401

    return _run


def _run(body: Body) -> None:
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of torch's threads, which have nothing to do in the child.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(body, writing)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if answer != "passed":
        ended = os.waitstatus_to_exitcode(status)
        pytest.fail(answer or f"the process ended with status {ended}", pytrace=False)


def _answer(body: Body, writing: int) -> NoReturn:
    try:
        answer = _outcome(body)
    except BaseException:  # noqa: BLE001 - the parent tells
        answer = traceback.format_exc()
    with os.fdopen(writing, "w", encoding="utf-8") as pipe:
        pipe.write(answer)
    os._exit(0)  # nothing of the parent's may run in the child


def _outcome(body: Body) -> str:
    import torch

    from capturelint.debug.simulated import SimulatedBackend

    torch.set_num_threads(1)  # a pool of threads does not survive a fork
    backend = SimulatedBackend()
    with backend.session():
        body(backend)
    return "passed"
