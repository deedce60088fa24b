"""Asserting that a model can be captured."""

from __future__ import annotations

import pytest

from capturelint.report import asserting, bisect_text
from capturelint.report.asserting import CaptureError, assert_capturable
from capturelint.verdict import ModuleVerdict, Report, Verdict


def report(verdict: Verdict) -> Report:
    return Report("m.py:make", "simulated", verdict, (ModuleVerdict("", "M", verdict, 1, "why"),))


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Return what bisect is asked for; it finds `report`."""
    asked: dict[str, object] = {}

    def bisect(case: object, **options: object) -> object:
        found = asked.pop("report")
        asked.update(case=case, **options)
        return found

    monkeypatch.setattr(asserting, "bisect", bisect)
    return asked


@pytest.mark.parametrize("verdict", list(Verdict))
def test_only_what_was_shown_to_be_capturable_passes(
    verdict: Verdict, found: dict[str, object]
) -> None:
    found["report"] = report(verdict)
    passes = verdict.exit_code == 0

    if passes:
        assert_capturable("m.py:make")
        return
    with pytest.raises(AssertionError) as caught:
        assert_capturable("m.py:make")
    assert isinstance(caught.value, CaptureError)
    assert caught.value.report == report(verdict)
    assert str(caught.value) == bisect_text.render(report(verdict))


def test_what_is_asked_for_is_handed_on(found: dict[str, object]) -> None:
    found["report"] = report(Verdict.EQUAL)

    assert_capturable("m:M", inputs="i.py:make", call="step", train=True, skip="a")

    assert found == {
        "case": "m:M",
        "inputs": "i.py:make",
        "call": "step",
        "train": True,
        "skip": "a",
    }
