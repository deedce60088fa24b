"""Run tests marked `simulated` in a process of their own, inside a session of the simulator.

A session runs a backward, after which no process forked from this one can run one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from tests.conftest import InFork


@pytest.fixture(autouse=True)
def fork_of_marked(request: pytest.FixtureRequest) -> InFork | None:
    """Return what runs a marked test in a fork, None for others."""
    if request.node.get_closest_marker("simulated") is None:
        return None
    in_fork: InFork = request.getfixturevalue("in_fork")
    return in_fork


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a marked test in a fork; return None for others, which pytest runs."""
    in_fork = cast("InFork | None", pyfuncitem.funcargs.get("fork_of_marked"))
    if in_fork is None:
        return None
    names = pyfuncitem._fixtureinfo.argnames  # noqa: SLF001 - what pytest itself passes on
    test: Callable[..., object] = pyfuncitem.obj
    in_fork(lambda: _within_session(lambda: test(**{n: pyfuncitem.funcargs[n] for n in names})))
    return True


def _within_session(body: Callable[[], object]) -> None:
    from tests.unit.measure.simulator import BACKEND

    with BACKEND.session():
        body()
