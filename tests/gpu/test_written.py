"""Cases of `tests/written` on a device: what graphs lack, overwrite, or read after it was freed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch

from capturelint.debug.processes.request import Request
from capturelint.debug.settings import Settings
from capturelint.verdict import Report
from tests.forked import Answer, reports
from tests.test_written import FOLDER, Written, in_file, lines_of

FILES = ("missing_work.py", "empty_graphs.py", "overwritten.py", "freed.py", "moved_inputs.py")
NOT_SEEN = {
    "freed.py:a_pinned_temporary": "pinned memory on the host is not written over on a device",
}
# What an H200 (torch 2.11) shows otherwise: both exit with 1 and name the same line.
OTHERWISE = {
    "empty_graphs.py:all_of_it_in_a_thread": "work-missing",  # torch did not call the graph empty
}
CASES = [case for file in FILES for case in in_file(FOLDER / file)]


@pytest.fixture(scope="module")
def answers() -> dict[str, Answer]:
    settings = Settings(backend="cuda", replays=3)
    wanted = {str(one): Request(f"{FOLDER / one.file}:{one.name}", settings) for one in CASES}
    return reports(wanted, workers=8)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_verdict_and_lines_are_as_written(case: Written, answers: Mapping[str, Answer]) -> None:
    if str(case) in NOT_SEEN:
        pytest.skip(NOT_SEEN[str(case)])
    report = answers[str(case)]

    assert isinstance(report, Report), report
    verdict = OTHERWISE.get(str(case), case.verdict)
    assert (report.verdict.value, lines_of(report)) == (verdict, case.lines), report


@pytest.mark.skipif(
    not hasattr(torch.cuda.CUDAGraph, "raw_cuda_graph"), reason="this torch tells no nodes"
)
def test_what_is_missing_is_told_in_kernels(answers: Mapping[str, Answer]) -> None:
    report = answers["missing_work.py:an_operation_on_the_default_stream"]

    assert isinstance(report, Report), report
    assert [one.evidence.counts for one in report.culprits] == [
        "an eager call runs 2 kernels, a graph holds 1 kernel"
    ]
