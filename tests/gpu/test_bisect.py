"""Whole runs on a device: verdicts, lines, and what is judged after the device was lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from capturelint.debug.api import bisect
from capturelint.verdict import Report, Verdict

CASES = Path(__file__).parent / "cases.py"


def _judged(name: str, **settings: Any) -> Report:
    return bisect(f"{CASES}:{name}", backend="cuda", **settings)


def _lines(report: Report) -> list[str]:
    """Return what the comments at the lines to blame say, or that no line is known."""
    places = [culprit.place for culprit in report.culprits]
    return [
        "no line" if place is None else place.source.partition("# ")[2] or place.source
        for place in places
    ]


def _verdicts(report: Report) -> dict[str, Verdict]:
    return {module.path: module.verdict for module in report.modules}


@pytest.mark.parametrize("name", ["passing", "training", "compiled"])
def test_what_can_be_captured_passes(name: str) -> None:
    report = _judged(name)

    assert (report.verdict, report.backend, _lines(report)) == (Verdict.EQUAL, "cuda", [])
    assert report.environment["device"]


def test_a_model_that_passes_costs_few_forwards() -> None:
    assert _judged("passing").timings["forwards"] <= 20


def test_a_read_is_named_with_its_operation_and_in_the_words_of_cuda() -> None:
    report = _judged("reading")
    (culprit,) = report.culprits

    assert (report.verdict, _lines(report)) == (Verdict.REFUSES, ["read"])
    assert (culprit.module, culprit.operation) == ("second", "aten._local_scalar_dense.default")
    assert "operation not permitted when stream is capturing" in culprit.message
    assert _verdicts(report)["first"] is Verdict.EQUAL


def test_a_counter_is_named_where_it_counts() -> None:
    report = _judged("counting")

    assert (report.verdict, _lines(report)) == (Verdict.STALE, ["counted"])


@pytest.mark.parametrize("settings", [{}, {"warmup": 0}], ids=["warm", "cold"])
def test_an_error_that_the_code_swallows_is_found(settings: dict[str, Any]) -> None:
    report = _judged("swallowing", **settings)

    assert (report.verdict, _lines(report)) == (Verdict.REFUSES, ["swallowed"])


def test_an_optimizer_on_the_host_is_refused() -> None:
    report = _judged("training_on_the_host")

    assert (report.verdict, _lines(report)) == (Verdict.REFUSES, ["stepped"])


def test_what_makes_graphs_of_its_own_is_refused() -> None:
    assert _judged("compiled_to_graphs").verdict is Verdict.REFUSES


def test_what_kills_the_device_in_replays_is_named_and_the_rest_is_judged() -> None:
    report = _judged("asserting")

    assert (report.verdict, _lines(report)) == (Verdict.REFUSES, ["asserted", "read"])
    assert _verdicts(report)["first"] is Verdict.STALE


@pytest.mark.parametrize("name", ["dying", "hanging"])
def test_after_the_process_is_lost_the_rest_is_judged(name: str) -> None:
    report = _judged(name, timeout=20.0)

    assert (report.verdict, report.exit_code) == (Verdict.REFUSES, 1)
    assert _lines(report) == ["read"]
    assert _verdicts(report)["first"] is Verdict.UNDECIDED


def test_out_of_memory_while_capturing_is_undecided_and_the_rest_is_judged() -> None:
    report = _judged("filling")
    first = next(module for module in report.modules if module.path == "first")

    assert (_lines(report), first.verdict) == (["read"], Verdict.UNDECIDED)
    assert first.why.startswith("no memory was left to capture it: CUDA out of memory")


def test_a_handle_that_a_failed_capture_broke_does_not_spoil_what_follows() -> None:
    report = _judged("decomposing")
    wanted = [Verdict.REFUSES, Verdict.REFUSES, Verdict.REFUSES, Verdict.EQUAL]

    assert sorted(_lines(report)) == ["decomposed", "decomposed", "read"]
    assert [_verdicts(report)[path] for path in "0123"] == wanted
