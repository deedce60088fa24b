"""The README: its example is what the tool prints, its commands are what CI runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from capturelint.cli.main import main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)


def test_the_example_is_what_check_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (example,) = blocks("console")
    command, _, wanted = example.partition("\n")
    monkeypatch.chdir(ROOT)

    assert command == "$ capturelint check fixtures/models"
    assert main(command.split()[2:]) == 1
    assert capsys.readouterr().out == wanted


def test_there_are_two_commands_and_ci_runs_the_second() -> None:
    first, second = blocks("sh")
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()

    assert first.strip().endswith("capturelint check --exit-zero fixtures/models")
    assert second.strip() == steps[-1]
