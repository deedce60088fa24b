"""What every format of a check has in common: order, files, pipes, terminals, odd paths."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

import pytest

from capturelint.cli.main import main
from capturelint.cli.reporting import FORMATS

_MODEL = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        s = '😀'; return x / x.max().item()
"""
_NAMES = ("a b.py", "a:b,c%.py", "b/é😀.py", "new\nline.py", "z.py")

every_format = pytest.mark.parametrize("name", FORMATS)
posix = pytest.mark.skipif(sys.platform == "win32", reason="names and pipes of POSIX")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    Path("b").mkdir()
    for name in _NAMES:
        Path(name).write_text(_MODEL, encoding="utf-8")


def _run(
    *arguments: str, variables: Mapping[str, str] | None = None, shell: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """Run a check of the folder; `shell` redirects its streams."""
    command = [sys.executable, "-m", "capturelint", "check", ".", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), **(variables or {})}
    if shell:
        command = ["sh", "-c", f'"$@" {shell}', "sh", *command]
    return subprocess.run(command, capture_output=True, check=False, env=environment)


def _paths(name: str, report: str) -> list[str]:
    """Return the paths of the findings in a report, in order."""
    if name == "json":
        return [finding["path"] for finding in json.loads(report)["findings"]]
    if name == "sarif":
        places = [result["locations"][0] for result in json.loads(report)["runs"][0]["results"]]
        return [unquote(one["physicalLocation"]["artifactLocation"]["uri"]) for one in places]
    if name == "github":
        return [unquote(path) for path in re.findall(r"^::error file=([^,]*),", report, re.M)]
    found = re.findall(r"^(.*):6:29: CL101 ", report, re.M)
    return [path.replace("\\n", "\n") for path in found]


@posix
@every_format
def test_findings_have_one_order_and_paths_come_through(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["check", ".", "--format", name]) == 1
    assert _paths(name, capsys.readouterr().out) == list(_NAMES)


@posix
@every_format
def test_a_file_gets_what_the_terminal_would(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main(["check", ".", "--format", name]) == 1
    printed = capsys.readouterr().out

    assert main(["check", ".", "--format", name, "--output", "report"]) == 1
    assert Path("report").read_text(encoding="utf-8") == printed
    assert [path.name for path in Path().glob("*report*")] == ["report"]


@posix
@every_format
def test_a_terminal_that_shows_little_gets_escapes(name: str) -> None:
    done = _run("--format", name, variables={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})

    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.isascii() and len(done.stdout) > 100


@posix
@pytest.mark.parametrize(
    ("name", "shell"),
    [*((name, "| head -c 1") for name in FORMATS), ("text", ">&-"), ("sarif", "2>&-")],
)
def test_a_reader_that_has_gone_is_no_traceback(name: str, shell: str) -> None:
    done = _run("--format", name, shell=shell)

    assert done.stderr == b""
    assert b"Traceback" not in done.stdout


@posix
@pytest.mark.parametrize("shell", ["2>&-", "2>/dev/full"])
def test_a_complaint_that_nobody_can_read_stays_out_of_the_report(shell: str) -> None:
    if "full" in shell and not Path("/dev/full").exists():
        pytest.skip("there is no full device here")

    done = _run("gone.py", "--format", "json", shell=shell)

    assert done.returncode == 2
    assert len(json.loads(done.stdout)["findings"]) == len(_NAMES)


@pytest.mark.parametrize("form", ["concise", "github"])
def test_chains_are_refused_where_a_format_has_no_place(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--show-chain", "--format", form]) == 2
    assert capsys.readouterr().err == (
        f"capturelint: `--show-chain` has no place in {form}; use `--format text` or `json`\n"
    )
