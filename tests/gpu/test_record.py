"""The GPU that is here does what the record says. About two minutes on an H200."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from capturelint.bundle import bundled

_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where a run of its own wrote its record: its forks must be the first on the device."""
    pytest.importorskip("torch")
    found: Path = tmp_path_factory.mktemp("measured")
    done = subprocess.run(
        [sys.executable, "-m", "tests.record", str(found)],
        capture_output=True,
        text=True,
        check=False,
        cwd=_ROOT,
    )
    if done.returncode == 2:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr[-4000:]
    return found


@pytest.mark.parametrize("name", ["fixtures.jsonl", "operations.jsonl"])
def test_does_what_is_recorded(name: str, folder: Path) -> None:
    found, recorded = _outcomes(folder / name), _outcomes(bundled("fixtures") / "measured" / name)
    both = found.keys() & recorded.keys()

    assert len(both) > 300
    assert {key: found[key] for key in both} == {key: recorded[key] for key in both}


def _outcomes(path: Path) -> Mapping[tuple[str, ...], str]:
    """Return outcomes by what was run, which has another digest once it has changed."""
    lines: list[dict[str, Any]] = list(map(json.loads, path.read_text("utf-8").splitlines()))
    names = ("rule", "example", "op", "form", "code", "source")
    return {tuple(line.get(name, "") for name in names): line["outcome"] for line in lines}
