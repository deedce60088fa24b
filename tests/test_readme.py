"""The README: its example is what the tool prints, its commands are what CI runs, its settings exist."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from capturelint.cli.main import main
from capturelint.cli.settings import check_codes
from capturelint.config import Config, load_config
from capturelint.lint.registry import builtin_rules

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


def test_the_settings_are_all_there_is_and_can_be_read(tmp_path: Path) -> None:
    (example,) = blocks("toml")
    path = tmp_path / "pyproject.toml"
    path.write_text(example, encoding="utf-8")
    missing = {field.name for field in fields(Config)} - {"root"}

    for line in example.splitlines()[1:]:
        missing.remove(line.partition(" = ")[0].replace("-", "_"))

    assert missing == set()
    check_codes(load_config(path, explicit=None), [entry.code for entry in builtin_rules()])


def test_the_changelog_names_every_rule() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    for entry in builtin_rules():
        assert f"{entry.code} {entry.rule.about.name}" in changelog
