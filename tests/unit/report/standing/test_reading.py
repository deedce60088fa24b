"""Findings read back from what `check` wrote."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from capturelint.finding import Finding
from capturelint.lint.registry import builtin_rules
from capturelint.report import json as json_form
from capturelint.report import sarif
from capturelint.report.standing.reading import FindingsError, findings_in
from tests.unit.report.findings import IN_CELL, READ, SLOW, result_of


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "found.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def bare(finding: Finding) -> Finding:
    return replace(finding, chain=(), fix=None)


def test_json_holds_all_that_matters_here(tmp_path: Path) -> None:
    path = written(tmp_path, json_form.render(result_of(READ, SLOW, IN_CELL)))

    assert findings_in(path) == (bare(READ), bare(SLOW), bare(IN_CELL))


def test_sarif_is_read_too_but_for_the_cell(tmp_path: Path) -> None:
    absolute = replace(READ, path=str(tmp_path / "a b.py"))
    text = sarif.render(result_of(READ, SLOW, absolute, IN_CELL), builtin_rules())

    *found, in_cell = findings_in(written(tmp_path, text))
    assert found == [bare(READ), bare(SLOW), bare(absolute)]
    assert in_cell.cell == 0


def _document(**changed: Any) -> str:
    finding = json.loads(json_form.render(result_of(READ)))["findings"][0]
    return json.dumps({"version": 1, "findings": [{**finding, **changed}]})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not valid JSON: Expecting property name"),
        (b"\xff\xfe\xfa", "is not valid JSON"),
        ("[]", "holds no findings of check"),
        ('{"version":1}', "holds no findings of check"),
        ('{"culprits":[],"findings":[]}', "is a report of `bisect`"),
        ('{"runs":[{"tool":{"driver":{"name":"ruff"}}}]}', "is SARIF without a run of capturelint"),
        (_document(source=None), "is of an older capturelint: findings[0] has no `source`"),
        (_document(line=-1), "is broken: findings[0] has no number `line`"),
        (_document(line=True), "is broken: findings[0] has no number `line`"),
        (_document(effect=["odd"]), "is broken: `effect` of findings[0] is none that is known"),
        (_document(code="X\n"), "is broken: `code` of findings[0] is none of a rule"),
        (_document(path=3), "is broken: findings[0] has no text `path`"),
    ],
)
def test_what_is_no_file_of_findings_is_told_in_one_line(
    text: str | bytes, problem: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text)

    with pytest.raises(FindingsError) as raised:
        findings_in(path)
    said = str(raised.value)
    assert said.startswith(f"findings {path} {problem}")
    assert said.endswith(f"; `capturelint check --format json --output {path}` writes them")
    assert "\n" not in said
