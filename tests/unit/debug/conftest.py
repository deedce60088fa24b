"""Run tests that need a simulated device each in a process of its own: its traces stay there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.conftest import InFork

    Body = Callable[[SimulatedBackend], object]
    InSession = Callable[[Body], None]


@pytest.fixture
def in_session(in_fork: InFork) -> InSession:
    """Return what runs a function, given the backend, in a forked process inside a session.

    What the function raises fails the test, with its traceback.
    """

    def run(body: Body) -> None:
        in_fork(lambda: _within_session(body))

    return run


def _within_session(body: Body) -> None:
    from capturelint.debug.simulated import SimulatedBackend

    backend = SimulatedBackend()
    with backend.session():
        body(backend)
