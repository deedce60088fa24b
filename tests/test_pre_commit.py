"""The pre-commit hook in a small repository, installed as pre-commit does it: without torch."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.repositories import alone, commit, git, needs_git

ROOT = Path(__file__).parents[1]
NEEDED = ("capturelint", "rules", "fixtures")
OFFLINE = re.compile(
    r"name resolution|Could not fetch|Connection|No matching distribution|timed out|ProxyError|SSLError"
)

pytestmark = [
    pytest.mark.slow,
    needs_git,
    pytest.mark.skipif(find_spec("pre_commit") is None, reason="pre-commit is not installed"),
]

BAD = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / x.abs().max().item()
"""
GOOD = BAD.replace(".item()", "")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where pre-commit keeps what it installs, for all tests."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def hook(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a repository that holds this checkout as it is now, and its commit."""
    folder = tmp_path_factory.mktemp("hook")
    for name in NEEDED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.iterdir():
        if path.is_file() and path.name != ".git":
            shutil.copy(path, folder)
    with pytest.MonkeyPatch.context() as patch:
        alone(patch)
        git("init", "--quiet", folder=folder)
        return folder, commit(folder=folder)


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hook: tuple[Path, str], home: Path
) -> subprocess.CompletedProcess[str]:
    """Run the hook on what is staged: a bad file, a good one, a notebook; a bad one is not staged."""
    alone(monkeypatch)
    monkeypatch.chdir(tmp_path)
    folder, revision = hook
    git("init", "--quiet")
    Path(".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {folder}\n  rev: {revision}\n  hooks:\n  - id: capturelint\n",
        encoding="utf-8",
    )
    Path("old.py").write_text(BAD, encoding="utf-8")
    commit()
    Path("good.py").write_text(GOOD, encoding="utf-8")
    Path("a b.py").write_text(BAD, encoding="utf-8")
    Path("text.md").write_text(BAD, encoding="utf-8")
    Path("nb.ipynb").write_text('{"nbformat": 4, "cells": 3}', encoding="utf-8")
    git("add", "--all")
    return _pre_commit(home)


def _pre_commit(home: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--color=never"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PRE_COMMIT_HOME": str(home)},
    )
    said = done.stdout + done.stderr
    if "An unexpected error has occurred" in said and OFFLINE.search(said):
        pytest.skip(f"the package index cannot be reached: {OFFLINE.findall(said)[0]}")
    return done


def test_the_hook_reports_the_files_of_a_commit_and_needs_no_torch(
    run: subprocess.CompletedProcess[str], home: Path
) -> None:
    lines = run.stdout.splitlines()

    assert run.returncode == 1, run.stdout + run.stderr
    assert "- exit code: 1" in lines
    assert [line.partition(" CL")[0] for line in lines if " CL" in line.partition("]")[0]][:2] == [
        "a b.py:6:20:",
        "nb.ipynb:1:1:",
    ]
    assert not [line for line in lines if line.startswith(("old.py", "good.py", "text.md"))]

    [python] = home.glob("repo*/py_env-*/bin/python")
    command = [str(python), "-c", "import libcst, capturelint, torch"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "No module named 'torch'" in done.stderr

    git("rm", "--quiet", "--force", "a b.py", "nb.ipynb")
    done = _pre_commit(home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("Passed\n")
