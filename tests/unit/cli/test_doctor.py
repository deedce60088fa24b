"""`capturelint doctor` tells what is there, and what a missing piece takes away."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from capturelint.debug.aids import Aid
from capturelint.report.aids import render

_ROOT = Path(__file__).parents[3]
# As if a package was not installed.
_WITHOUT_TORCH = """
import sys
from importlib.abc import MetaPathFinder
class Without(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "torch" else real(name, package)
sys.meta_path.insert(0, Without())
from capturelint.cli.main import main
sys.exit(main(["doctor", "--format", "json"]))
"""


def _told(*command: str, **environment: str) -> dict[str, dict[str, str]]:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=_ROOT,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return {aid["name"]: aid for aid in json.loads(done.stdout)["aids"]}


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_without_a_gpu_it_says_why_and_what_is_lost() -> None:
    command = (sys.executable, "-m", "capturelint", "doctor", "--format", "json")
    told = _told(*command, CUDA_VISIBLE_DEVICES="")

    assert told["torch"]["found"]
    assert told["GPU"]["found"] == ""
    assert told["GPU"]["missing"].startswith("torch ")
    assert told["GPU"]["lost"] == "models are judged on the simulator"
    assert told["simulator"]["found"] == "its own checks pass; a capture and its replay work"


def test_without_torch_it_says_what_to_install() -> None:
    told = _told(sys.executable, "-c", _WITHOUT_TORCH)

    assert told["torch"]["found"] == ""
    assert told["torch"]["missing"] == "not installed: pip install 'capturelint[dynamic]'"
    assert "GPU" not in told


def test_the_text_names_each_piece_and_what_bisect_would_use() -> None:
    aids = [Aid("torch", "2.13"), Aid("GPU", "", "no device", "all is simulated")]
    simulator = Aid("simulator", "works")

    assert render([*aids, simulator], versions="capturelint 1, Python 3") == (
        "capturelint 1, Python 3\n"
        "torch      2.13\n"
        "GPU        missing: no device\n"
        "           without it: all is simulated\n"
        "simulator  works\n"
        "\n"
        "`capturelint bisect` judges on the simulator\n"
    )
    assert render(aids, versions="").endswith(
        "`capturelint bisect` cannot run here; `capturelint check` can\n"
    )
