"""Fresh processes: what surrounds them must not get in their way."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from capturelint.debug.processes.request import Request
from capturelint.debug.processes.spawn import Forked, spawned, worker_command
from capturelint.debug.processes.supervisor import CaseFailedError, supervise

MISSING = "missing.py:make"

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


def judge_missing() -> str:
    """Return what a real worker says to a case that is not there."""
    with pytest.raises(CaseFailedError) as caught:
        supervise(
            lambda known: spawned(Request(MISSING), worker_command()),
            case=MISSING,
            timeout=60,
            known={},
            watch=lambda event: None,
        )
    return str(caught.value)


@needs_torch
@pytest.mark.parametrize("safe_path", ["", "1"])
def test_files_of_the_users_folder_do_not_stand_in_for_modules(
    safe_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONSAFEPATH", safe_path)
    for name in ("json", "enum", "torch", "capturelint", "importlib", "verdict", "wire"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('shadowed')")

    assert judge_missing().startswith("no file missing.py; ")


@needs_torch
def test_the_capturelint_that_runs_is_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "capturelint"
    other.mkdir()
    (other / "__init__.py").write_text("raise SystemExit('another version')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    assert judge_missing().startswith("no file missing.py; ")


NO_TORCH = [
    "capturelint.debug.api",
    "capturelint.debug.events",
    "capturelint.debug.processes.journal",
    "capturelint.debug.processes.supervisor",
    "capturelint.debug.wire",
    "capturelint.debug.processes.worker",
    "capturelint.report.asserting",
]


@pytest.mark.parametrize("module", NO_TORCH)
def test_the_parent_does_not_import_torch(module: str) -> None:
    code = f"import sys, {module}; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_that_someone_else_waited_for_has_ended() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()

    assert Forked(process.pid).poll() == 0
