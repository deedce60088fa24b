"""The report for editors, whole."""

from __future__ import annotations

from dataclasses import replace

from capturelint.report import bisect_concise
from tests.unit.report.reports import failing, passing


def test_each_culprit_is_a_line_and_the_last_line_is_the_verdict() -> None:
    message = "CUDA error: operation not permitted when stream is capturing"

    assert bisect_concise.render(failing()) == (
        "model.py:57: refuses-capture layers.0.attention aten::_local_scalar_dense"
        f" [refuses-capture] {message}\n"
        "model.py:57: refuses-capture layers.1.attention aten::_local_scalar_dense"
        f" [refuses-capture] {message}\n"
        "model.py:9: stale-on-replay counter aten::mul [stale-on-replay]"
        " the number 3 is part of the graph\n"
        "case.py:make: undecided moe operator ours::moe cannot be simulated\n"
        "case.py:make: refuses-capture (simulated): capturing it raises an error"
    )


def test_a_culprit_without_a_line_stands_at_the_case() -> None:
    report = failing()
    report = replace(report, culprits=(replace(report.culprits[2], place=None, message=""),))

    assert bisect_concise.render(report).splitlines()[0] == (
        "case.py:make: stale-on-replay counter aten::mul [stale-on-replay]"
    )


def test_a_pass_is_one_line() -> None:
    assert bisect_concise.render(passing(backend="cuda")) == (
        "case.py:make: replays-equal: no trap seen, replays equal on 6 fresh inputs"
    )
