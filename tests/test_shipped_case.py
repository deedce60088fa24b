"""The shipped decoder under bisect, from the command line to the JSON that programs read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "tests" / "unit" / "report" / "bisect_schema.json"

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


def bisected(case: str, cwd: Path, *options: str) -> tuple[int, Any]:
    """Return the exit code and the report of a run, which is checked against the schema."""
    done = subprocess.run(
        [sys.executable, "-m", "capturelint", "bisect", case, "--format", "json", *options],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
    )
    assert done.stderr == ""
    report = json.loads(done.stdout)
    jsonschema.validate(report, json.loads(SCHEMA.read_text(encoding="utf-8")))
    return done.returncode, report


def line_of(text: str, path: str) -> int:
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    (number,) = (number for number, line in enumerate(lines, start=1) if text in line)
    return number


def test_both_modules_and_all_three_lines_are_blamed() -> None:
    code, report = bisected("fixtures/models/decoder.py:make", ROOT)
    attention, decoder = "fixtures/models/attention.py", "fixtures/models/decoder.py"
    reads = line_of("positions.max().item()", attention)

    assert (code, report["backend"], report["verdict"]) == (1, "simulated", "refuses-capture")
    assert {
        (culprit["module"], culprit["path"], culprit["line"], culprit["code"])
        for culprit in report["culprits"]
    } == {
        ("layers.0.attention", attention, reads, "CL101"),
        ("layers.1.attention", attention, reads, "CL101"),
        ("<root>", decoder, line_of("torch.tensor(30.0", decoder), "CL201"),
        ("<root>", decoder, line_of("if logits.abs()", decoder), "CL401"),
    }


def test_from_another_folder_paths_are_absolute_and_the_first_culprit_is_enough(
    tmp_path: Path,
) -> None:
    path = ROOT / "fixtures" / "models" / "decoder.py"
    code, report = bisected(f"{path}:make", tmp_path, "--first", "--exit-zero")

    assert code == 0
    assert [culprit["path"] for culprit in report["culprits"]] == [
        path.with_name("attention.py").as_posix()
    ]
