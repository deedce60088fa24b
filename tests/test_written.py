"""Cases as users write them, each with its verdict and the lines to blame, written down before.

In `tests/written`, a public function makes a case; its docstring is the verdict, and `# blamed: NAME`
marks the lines to blame in the case of that name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from capturelint.debug.processes.request import Request
from capturelint.debug.settings import Settings
from capturelint.verdict import Report
from tests.forked import Answer, reports

pytest.importorskip("torch", reason="torch is not installed: no model can run")

FOLDER = Path(__file__).parent / "written"
MARK = re.compile(r"# blamed: ([\w, ]+)")


@dataclass(frozen=True, slots=True)
class Written:
    """One case. `lines`: to blame, from 1."""

    file: str
    name: str
    verdict: str
    lines: frozenset[int]

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"


def written() -> list[Written]:
    return [case for file in sorted(FOLDER.glob("[a-z]*.py")) for case in in_file(file)]


def in_file(file: Path) -> list[Written]:
    text = file.read_text()
    marked: dict[str, set[int]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        for mark in MARK.finditer(line):
            for name in mark[1].split(","):
                marked.setdefault(name.strip(), set()).add(number)
    cases = [
        Written(
            file.name,
            one.name,
            (ast.get_docstring(one) or "").rstrip(".").lower(),
            frozenset(marked.pop(one.name, ())),
        )
        for one in ast.parse(text).body
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")
    ]
    assert not marked, f"{file.name} marks lines for {sorted(marked)}, which it does not make"
    return cases


CASES = written()


@pytest.fixture(scope="module")
def answers() -> dict[str, Answer]:
    settings = Settings(backend="simulated", replays=3)
    return reports(
        {str(case): Request(f"{FOLDER / case.file}:{case.name}", settings) for case in CASES}
    )


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_verdict_and_lines_are_as_written(case: Written, answers: Mapping[str, Answer]) -> None:
    report = answers[str(case)]

    assert isinstance(report, Report), report
    assert (report.verdict.value, lines_of(report)) == (case.verdict, case.lines), report


def lines_of(report: Report) -> frozenset[int]:
    return frozenset(one.place.line for one in report.culprits if one.place is not None)
