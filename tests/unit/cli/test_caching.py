"""What `check` leaves behind, and how a second run uses it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from capturelint.cli.main import main

_MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor):
        return x.sum().item()
"""
_LOADED = (
    "import sys; from capturelint.cli.main import main; code = main(sys.argv[1:]);"
    "print(*sorted({'ast', 'libcst', 'rich', 'torch', 'concurrent.futures',"
    " 'capturelint.lint.engine', 'capturelint.lint.registry'} & {*sys.modules}), file=sys.stderr);"
    "sys.exit(code)"
)


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a project with one finding."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    Path("pyproject.toml").write_text("[tool.capturelint]\n", encoding="utf-8")
    Path("model.py").write_text(_MODEL, encoding="utf-8")


def _fresh(*options: str) -> subprocess.CompletedProcess[str]:
    """Check in a process of its own, which says last what it has loaded."""
    return subprocess.run(
        [sys.executable, "-c", _LOADED, "check", *options, "model.py"],
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_unchanged_run_says_the_same_and_loads_no_rule() -> None:
    first, second = _fresh(), _fresh()

    assert "CL101" in first.stdout
    assert (second.stdout, second.returncode) == (first.stdout, 1)
    assert second.stderr.split() == ["ast"]


def test_without_a_cache_nothing_is_left_behind(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--no-cache", "model.py"])

    assert "CL101" in capsys.readouterr().out
    assert sorted(path.name for path in Path().iterdir()) == ["model.py", "pyproject.toml"]


def test_the_cache_is_beside_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("below").mkdir()
    monkeypatch.chdir("below")
    main(["check", "../model.py"])

    assert list(Path().iterdir()) == []
    assert Path("../.capturelint_cache/runs").is_dir()


def test_a_folder_for_the_cache_can_be_named(tmp_path: Path) -> None:
    main(["check", "--cache-dir", str(tmp_path / "there"), "model.py"])

    assert (tmp_path / "there" / "CACHEDIR.TAG").is_file()
    assert not Path(".capturelint_cache").exists()


def test_a_code_that_no_rule_has_is_told_after_a_good_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["check", "model.py"])
    capsys.readouterr()
    Path("pyproject.toml").write_text('[tool.capturelint]\nignore = ["CL999"]\n', encoding="utf-8")

    assert main(["check", "--select", "CL101", "model.py"]) == 2
    assert "no rule begins with 'CL999'" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_checked_all_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path().chmod(0o500)
    try:
        assert [main(["check", "model.py"]) for _ in range(2)] == [1, 1]
    finally:
        Path().chmod(0o700)
    assert capsys.readouterr().err == ""


def test_a_cache_that_came_with_the_repository_is_not_believed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["check", "--format", "json", "model.py"])
    truth = json.loads(capsys.readouterr().out)
    (kept,) = Path(".capturelint_cache/runs").glob("*.json")
    head, _, body = kept.read_bytes().partition(b"\n")
    values = json.loads(body)
    values[-1][0] = []
    kept.write_bytes(head + b"\n" + json.dumps(values).encode())

    assert main(["check", "--format", "json", "model.py"]) == 1
    assert json.loads(capsys.readouterr().out) == truth


@pytest.mark.slow
def test_many_runs_at_once_all_say_the_same() -> None:
    command = [sys.executable, "-m", "capturelint", "check", "model.py"]
    runs = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = {(*run.communicate(), run.returncode) for run in runs}

    assert len(said) == 1
    ((out, err, code),) = said
    assert ("CL101" in out, err, code) == (True, "", 1)
    assert _fresh().stderr.split() == ["ast"]
