"""How a row of the table of operations is known, by what is recorded of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from capturelint.finding import Effect
from capturelint.operations import Operation, measured
from capturelint.operations.measured import known_from

REFUSING = Operation("torch.poke", "a form", Effect.REFUSES, "CL101", ">=2.6,<2.14")
SAFE = Operation("torch.poke", "a form", None, "", ">=2.6")


def record(folder: Path, monkeypatch: pytest.MonkeyPatch, *outcomes: str, torch: str) -> None:
    """Write a record in which pieces of code of one row came to `outcomes`."""
    about = {"device": "GPU", "torch": torch, "driver": "1", "date": "2026-01-01"}
    row = {"op": "torch.poke", "form": "a form", "code": "poke()", "error": "", "source": "00"}
    (folder / "measured").mkdir()
    (folder / "measured" / "operations.jsonl").write_text(
        "".join(json.dumps({**row, "outcome": outcome, **about}) + "\n" for outcome in outcomes)
    )
    monkeypatch.setattr(measured, "bundled", lambda _: folder)


def test_a_row_is_known_from_the_device_that_showed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path, monkeypatch, "refuses-capture", "refuses-capture", torch="2.11.0+cu130")

    assert known_from(REFUSING) == "GPU, torch 2.11.0+cu130"


@pytest.mark.parametrize("outcome", ["replays-equal", "captures"])
def test_a_safe_row_is_known_when_replays_equal_or_there_is_nothing_to_compare(
    outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path, monkeypatch, outcome, torch="2.11.0")

    assert known_from(SAFE) == "GPU, torch 2.11.0"


@pytest.mark.parametrize("row", [REFUSING, SAFE])
def test_code_that_does_not_agree_leaves_a_row_to_its_source(
    row: Operation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path, monkeypatch, "refuses-capture", "replays-equal", torch="2.11.0")

    assert known_from(row) == "source"


def test_a_release_that_a_row_does_not_hold_for_says_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path, monkeypatch, "refuses-capture", torch="2.14.0")

    assert known_from(REFUSING) == "source"


def test_a_row_that_nothing_ran_is_known_from_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured, "bundled", lambda _: tmp_path)

    assert known_from(SAFE) == "source"
