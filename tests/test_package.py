"""The wheel and the sdist, built and used as a user would: another folder, no torch."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.slow

MODEL = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / x.abs().max().item()
"""


def run(command: Sequence[str | Path], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def built(place: Path) -> Path:
    """Build the sdist, then the wheel from the sdist, into `place`."""
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(place), str(ROOT)]
    done = run(build, cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr
    return place


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def bin_folder(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of programs of a fresh environment that has the wheel, and no torch."""
    place = tmp_path_factory.mktemp("fresh") / "env"
    venv.create(place, with_pip=True)
    programs = place / ("Scripts" if sys.platform == "win32" else "bin")
    (wheel,) = dist.glob("*.whl")
    done = run([programs / "python", "-m", "pip", "install", "--quiet", wheel], cwd=dist)
    assert done.returncode == 0, done.stdout + done.stderr
    return programs


def shipped(*folders: str) -> set[str]:
    """Return the files under `folders` of the checkout, all of which must be shipped."""
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    return {path.relative_to(ROOT).as_posix() for path in paths if path.suffix != ".pyc"}


def test_the_wheel_holds_code_presets_rules_and_fixtures(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    inside = {f"capturelint/{name}" for name in shipped("rules", "fixtures")}

    assert held == shipped("capturelint") | inside
    assert "capturelint/py.typed" in held


def test_the_sdist_can_be_tested(dist: Path) -> None:
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}

    assert shipped("capturelint", "rules", "fixtures", "tests") <= held
    assert {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml"} <= held
    assert not [name for name in held if "__pycache__" in name]


def test_the_installed_package_has_no_torch(bin_folder: Path, tmp_path: Path) -> None:
    done = run([bin_folder / "python", "-c", "import torch"], cwd=tmp_path)

    assert "No module named 'torch'" in done.stderr


def test_a_rule_page_is_printed_from_another_folder(bin_folder: Path, tmp_path: Path) -> None:
    done = run([bin_folder / "capturelint", "rule", "CL101"], cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("# CL101 host-read\n")
    assert "## Not reported\n" in done.stdout
    assert "\nMeasured: " in done.stdout


def test_a_model_is_checked_from_another_folder(bin_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    done = run([bin_folder / "capturelint", "check", "model.py"], cwd=tmp_path)

    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("model.py:6:20: CL101 ")


def test_bisect_says_what_to_install(bin_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("def make(): ...\n", encoding="utf-8")

    done = run([bin_folder / "capturelint", "bisect", "x.py:make"], cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "capturelint: bisect needs torch; pip install 'capturelint[dynamic]'\n"


def test_bisect_explains_its_options_without_torch(bin_folder: Path, tmp_path: Path) -> None:
    done = run([bin_folder / "capturelint", "bisect", "--help"], cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert "--backend auto|cuda|simulated" in done.stdout
