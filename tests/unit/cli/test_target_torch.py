"""The release of torch that is checked for: option, setting, and what it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.cli.main import main

SOURCE = """import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, cpu: int = 0) -> Tensor:
        x[0, 1] = 5.0
        x[0, 1] = torch.zeros(())
        return x
"""


PINNED = """import torch
from torch import Tensor, nn

class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        table = torch.arange(16.0).pin_memory()
        return x + table.to(x.device, non_blocking=True)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "m.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _lines(capsys: pytest.CaptureFixture[str], *options: str) -> list[int]:
    main(["check", "--select", "CL203", "--format", "concise", *options, "m.py"])
    told = capsys.readouterr().out.splitlines()
    return [int(line.split(":")[1]) for line in told if line.startswith("m.py:")]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("options", "lines"),
    [((), [7]), (("--target-torch", "2.11"), [7]), (("--target-torch", "2.14"), [])],
)
def test_what_the_release_captures_is_left_out(
    options: tuple[str, ...], lines: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert [line for line in _lines(capsys, *options) if line == 7] == lines


@pytest.mark.usefixtures("project")
def test_a_number_on_the_host_in_a_tensor_is_copied_in_every_release(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert 8 in _lines(capsys, "--target-torch", "2.14")


@pytest.mark.parametrize(
    ("options", "lines"),
    [((), [6]), (("--target-torch", "2.10"), [6]), (("--target-torch", "2.11"), [])],
)
def test_what_is_pinned_during_capture_is_kept_by_later_releases(
    options: tuple[str, ...], lines: list[int], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "m.py").write_text(PINNED, encoding="utf-8")
    main(["check", "--select", "CL204", "--format", "concise", *options, "m.py"])
    told = capsys.readouterr().out.splitlines()

    assert [int(line.split(":")[1]) for line in told if line.startswith("m.py:")] == lines


def test_the_setting_is_read_and_the_option_wins(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pyproject.toml").write_text('[tool.capturelint]\ntarget-torch = "2.14"\n')

    assert 7 not in _lines(capsys)
    assert 7 in _lines(capsys, "--target-torch", "2.13")


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("version", ["1.13", "two", "2", "99.1"])
def test_an_unknown_release_is_one_line_and_exit_code_two(
    version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["check", "--target-torch", version, "m.py"])

    said = capsys.readouterr().err.strip().splitlines()
    assert raised.value.code == 2
    assert f"{version!r} is not a release of torch from 2.6 to 2.14, such as 2.11" in said[-1]


@pytest.mark.parametrize("value", ['"1.13"', "2.11", '["2.11"]'])
def test_an_unknown_release_in_the_settings_names_file_and_key(
    value: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pyproject.toml").write_text(f"[tool.capturelint]\ntarget-torch = {value}\n")

    assert main(["check", "m.py"]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert "pyproject.toml" in said[0]
    assert "`target-torch` is" in said[0]
