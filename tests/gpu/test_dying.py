"""What kills the device under a graph only is found again in fresh processes, and named."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from capturelint.debug.api import bisect
from capturelint.verdict import Report, Verdict

CASES = Path(__file__).parent / "dying_cases.py"


def _judged(name: str) -> Report:
    return bisect(f"{CASES}:{name}", backend="cuda", replays=3)


def test_an_index_that_is_out_of_range_in_replays_only_is_named() -> None:
    report = _judged("gathering")
    (culprit,) = report.culprits

    assert (report.verdict, culprit.module) == (Verdict.STALE, "1.0")
    assert culprit.place is not None
    assert culprit.place.source.endswith("# gathered")
    assert culprit.operation == "aten.index.Tensor"
    assert "device-side assert" in culprit.message
    assert "as eager calls do not" in culprit.message


@pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed")
def test_an_address_that_is_not_mapped_any_more_is_named() -> None:
    report = _judged("unmapping")
    (culprit,) = report.culprits

    assert (report.verdict, culprit.module) == (Verdict.STALE, "1.0")
    assert culprit.place is not None
    assert culprit.place.source.endswith("# launched")
    assert "illegal memory access" in culprit.message


def test_what_dies_eagerly_too_is_undecided() -> None:
    report = _judged("picking")
    root = report.modules[0]

    assert (report.verdict, root.verdict) == (Verdict.UNDECIDED, Verdict.UNDECIDED)
    assert "it dies eagerly too" in root.why
    assert report.culprits == ()
