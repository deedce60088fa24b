"""Counts by code, effect and file."""

from __future__ import annotations

from dataclasses import replace

from capturelint.report import statistics
from tests.unit.report.findings import READ, SLOW, UNREAD, result_of


def test_counts_are_by_code_effect_and_file_the_most_frequent_first() -> None:
    findings = (SLOW, *[READ] * 10, UNREAD)

    assert statistics.render(result_of(*findings)).splitlines() == [
        "10  CL101  host-read",
        " 1  CL000  unreadable-file",
        " 1  CL701  sync-call",
        "11  slow",
        "10  refuses-capture",
        "10  pkg/model.py",
        " 1  a b.py",
        " 1  x.py",
    ]


def test_of_many_files_some_are_shown_in_text_and_all_in_json() -> None:
    result = result_of(*(replace(READ, path=f"m{number:02}.py") for number in range(23)))

    assert statistics.render(result).splitlines()[-2:] == [" 1  m19.py", " 3  in 3 more files"]
    assert len(list(statistics.document(result)["files"])) == 23  # type: ignore[call-overload]


def test_counts_in_json_have_keys() -> None:
    assert statistics.document(result_of(READ, SLOW)) == {
        "codes": [
            {"code": "CL101", "name": "host-read", "count": 1},
            {"code": "CL701", "name": "sync-call", "count": 1},
        ],
        "effects": [{"effect": "slow", "count": 2}, {"effect": "refuses-capture", "count": 1}],
        "files": [{"path": "a b.py", "count": 1}, {"path": "pkg/model.py", "count": 1}],
    }


def test_nothing_found_is_nothing_to_count() -> None:
    assert statistics.render(result_of()) == ""
