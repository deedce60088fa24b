"""The shipped cases on the simulator: leaks are named with their lines, look-alikes pass."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

from capturelint.debug.engine import judge
from capturelint.debug.settings import Settings
from capturelint.finding import Effect
from capturelint.verdict import Report, Verdict
from tests.pad_cases import APART, LEAKING, names, wanted_line

if TYPE_CHECKING:
    from pathlib import Path

    from capturelint.debug.backend import Backend
    from tests.unit.debug.conftest import InSession


def judged(backend: Backend, path: Path, name: str, seed: int = 0) -> Report:
    make = getattr(importlib.import_module(f"fixtures.models.{path.stem}"), name)
    settings = Settings(replays=1, pad=True, seed=seed)
    return judge(make, backend, settings, known={}, emit=lambda _: None)


@pytest.mark.slow
@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", names(LEAKING))
def test_a_leak_is_named_with_its_line(name: str, in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, LEAKING, name)
        places = [None if one.place is None else one.place.line for one in report.culprits]

        assert (report.verdict, places) == (Verdict.PADS, [wanted_line(LEAKING, name)]), report
        assert {one.effect for one in report.culprits} == {Effect.LEAKS}

    in_session(body)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", names(APART))
def test_what_keeps_rows_apart_raises_no_alarm(name: str, in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, APART, name)

        assert report.verdict in (Verdict.EQUAL, Verdict.ALIASES_INPUT), report
        assert report.culprits == ()

    in_session(body)


@pytest.mark.sweep(9)
@pytest.mark.parametrize("seed", range(1, 7))
def test_an_expert_load_leaks_at_every_seed(seed: int, in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, LEAKING, "make_expert_load", seed)

        assert report.verdict is Verdict.PADS, report

    in_session(body)
