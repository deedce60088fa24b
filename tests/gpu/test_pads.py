"""The shipped cases about pad rows on a device: leaks are named, look-alikes raise no alarm.

Where a pad row has the slot of a real row, a device may let either write win; the runs ask for
deterministic algorithms, so that the last stays (`capturelint.debug.pads.slots`).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.debug.api import bisect
from capturelint.verdict import Report, Verdict
from tests.pad_cases import APART, LEAKING, names, wanted_line


def _judged(path: Path, name: str) -> Report:
    return bisect(f"{path}:{name}", backend="cuda", replays=1, pad=True)


@pytest.mark.parametrize("name", names(LEAKING))
def test_a_leak_is_named_with_its_line(name: str) -> None:
    report = _judged(LEAKING, name)
    places = [None if one.place is None else one.place.line for one in report.culprits]

    assert (report.verdict, places) == (Verdict.PADS, [wanted_line(LEAKING, name)]), report


@pytest.mark.parametrize("name", names(APART))
def test_what_keeps_rows_apart_raises_no_alarm(name: str) -> None:
    report = _judged(APART, name)

    assert report.verdict in (Verdict.EQUAL, Verdict.ALIASES_INPUT), report
