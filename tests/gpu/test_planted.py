"""Hazards planted deep in real models, judged on a device: the module and the line, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from capturelint.debug.settings import Settings
from capturelint.verdict import Report
from tests.forked import Answer
from tests.test_planted import AVAILABLE, Planting, blamed, judged


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    return judged(tmp_path_factory, Settings(backend="cuda"), workers=8)


@pytest.mark.parametrize("planting", AVAILABLE, ids=str)
def test_names_the_modules_and_the_lines(planting: Planting, answers: Mapping[str, Answer]) -> None:
    report = answers[str(planting)]
    places = {path: one.place for path, one in planting.plants.items() if one.place[1]}

    assert isinstance(report, Report), report
    assert (blamed(report), report.verdict) == (places, planting.verdict)
