"""The report of one line each."""

from __future__ import annotations

from dataclasses import replace

from capturelint.report import concise
from tests.unit.report.findings import IN_CELL, READ, UNREAD, result_of


def test_each_finding_is_one_line() -> None:
    assert concise.render(result_of(IN_CELL, READ, UNREAD)).splitlines() == [
        "nb.ipynb:cell 3:2:5: CL101 host-read [refuses-capture] reads",
        "pkg/model.py:12:13: CL101 host-read [refuses-capture, slow] `.item()` reads a tensor",
        "x.py:1:1: CL000 unreadable-file is binary",
    ]


def test_a_message_with_line_ends_is_still_one_line() -> None:
    assert concise.line(replace(UNREAD, message="is\nno\r\ntext")) == (
        "x.py:1:1: CL000 unreadable-file is no text"
    )


def test_no_finding_is_no_line() -> None:
    assert concise.render(result_of()) == ""
