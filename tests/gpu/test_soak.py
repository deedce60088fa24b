"""Many replays on a device: what passes, what differs late, and memory that grows."""

from __future__ import annotations

import re
from pathlib import Path

from capturelint.debug.api import bisect
from capturelint.verdict import Report, Verdict

CASES = Path(__file__).parent / "soak_cases.py"
SOAK = 40


def _judged(name: str) -> Report:
    return bisect(f"{CASES}:{name}", backend="cuda", replays=2, soak=SOAK)


def test_what_stays_equal_passes_and_holds_no_more_memory() -> None:
    report = _judged("steady")

    assert report.verdict is Verdict.EQUAL
    assert f"soak: {SOAK} more replays of the case on new inputs equal eager" in report.notes
    assert not any("grew" in note for note in report.notes)


def test_a_late_difference_is_told_with_its_replay() -> None:
    report = _judged("switching")
    (culprit,) = report.culprits

    assert report.verdict is Verdict.STALE
    assert culprit.evidence.replay is not None
    assert culprit.evidence.replay > 3
    assert culprit.place is not None


def test_memory_that_grows_is_told_in_mib() -> None:
    report = _judged("hoarding")
    (note,) = [note for note in report.notes if "grew" in note]
    grown = re.search(r"grew by ([\d.]+) MiB in (\d+) replays, ([\d.]+) MiB in each", note)

    assert grown is not None
    assert int(grown[2]) == SOAK
    assert 0.9 < float(grown[3]) < 1.1
