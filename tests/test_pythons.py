"""The part that needs no torch, tested on the oldest and the newest Python that we support."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ALL_CASES, SHARE

ROOT = Path(__file__).parents[1]

# Set for the tests that run inside the other Python, so that they do not start a third one.
INSIDE = "CAPTURELINT_TESTS_INSIDE"

NEEDED = ("pytest>=8.2", "hypothesis>=6.100", "jsonschema>=4.20")
NOT_THERE = (
    "tests/test_package.py",
    "tests/test_pythons.py",
    "tests/gpu",
    "tests/bench",
    # What follows runs models, and torch is not there.
    "tests/unit/debug",
    "tests/unit/measure/test_runner.py",
    "tests/unit/measure/test_runner_values.py",
    "tests/unit/measure/test_same.py",
    "tests/unit/measure/bench/test_measuring.py",
    "tests/test_hostile.py",
    "tests/test_planted.py",
    "tests/test_probes.py",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(INSIDE in os.environ, reason="already inside another Python"),
]


@pytest.mark.parametrize(("version", "first"), [("3.10", 0), ("3.13", 1)])
def test_a_part_of_what_needs_no_torch_passes(
    version: str, first: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    inside = installed(python, tmp_path / "env")
    every = 3 if request.config.getoption(ALL_CASES) else 6
    options = ["-q", "-p", "no:cacheprovider", "-m", "not gpu and not slow"]
    ignored = [f"--ignore={name}" for name in NOT_THERE]
    done = run(
        [inside, "-m", "pytest", *options, *ignored],
        extra={INSIDE: version, SHARE: f"{first}/{every}"},
    )

    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert " passed" in done.stdout.splitlines()[-1]


def interpreter(version: str) -> str | None:
    """Return a Python of `version` that starts, or None. A pyenv shim may exist and not start."""
    probe = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    for candidate in candidates(version):
        done = run([candidate, "-c", probe])
        if done.returncode == 0 and done.stdout.strip() == version:
            return candidate
    return None


def candidates(version: str) -> Iterator[str]:
    on_path = shutil.which(f"python{version}")
    if on_path is not None:
        yield on_path
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(pyenv.glob(f"versions/{version}*/bin/python{version}")))
    if shutil.which("uv") is not None:
        found = run(["uv", "python", "find", version]).stdout.strip()
        if found:
            yield found


def installed(python: str, place: Path) -> str:
    """Return the Python of a new environment that has this checkout and what its tests need."""
    made = run([python, "-m", "venv", str(place)])
    assert made.returncode == 0, made.stdout + made.stderr
    inside = str(place / "bin" / "python")
    done = run([inside, "-m", "pip", "install", "--quiet", "--editable", str(ROOT), *NEEDED])
    assert done.returncode == 0, done.stdout + done.stderr
    return inside


def run(
    command: list[str], *, extra: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **(extra or {})},
        capture_output=True,
        text=True,
        check=False,
    )
