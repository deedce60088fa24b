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
    InFork = Callable[[Callable[[], object]], None]


@pytest.fixture
def in_session(in_fork: InFork) -> InSession:
    """Return what runs a function, given the backend, in a forked process inside a session.

    What the function raises fails the test, with its traceback.
    """

    def run(body: Body) -> None:
        in_fork(lambda: _within_session(body))

    return run


@pytest.fixture
def in_fork() -> InFork:
    """Return what runs a function in a forked process, where it may leave traces."""
    # Imported before the fork, where it takes seconds only once.
    import capturelint.debug.simulated  # noqa: F401

    return _run


def _within_session(body: Body) -> None:
    from capturelint.debug.simulated import SimulatedBackend

    backend = SimulatedBackend()
    with backend.session():
        body(backend)


def _run(body: Callable[[], object]) -> None:
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


def _answer(body: Callable[[], object], writing: int) -> NoReturn:
    import torch

    torch.set_num_threads(1)  # a pool of threads does not survive a fork
    try:
        body()
        answer = "passed"
    except BaseException:  # noqa: BLE001 - the parent tells
        answer = traceback.format_exc()
    with os.fdopen(writing, "w", encoding="utf-8") as pipe:
        pipe.write(answer)
    os._exit(0)  # nothing of the parent's may run in the child
