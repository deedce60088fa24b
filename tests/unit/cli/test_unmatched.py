"""A pattern of the settings that matches nothing: when it is a mistake and how that is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from capturelint.cli.main import main


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the settings of a project with a package, a pattern of which matches nothing."""
    monkeypatch.chdir(tmp_path)
    Path("pkg").mkdir()
    Path("pkg/__init__.py").touch()
    Path("pkg/model.py").write_text("def decode(x): ...\n")
    path = tmp_path / "pyproject.toml"
    path.write_text('[tool.capturelint]\neager = ["pkg.model.decoder"]\n')
    return path


_TOLD = (
    "eager: 'pkg.model.decoder' matches nothing in the checked files;"
    " did you mean 'pkg.model.decode'?"
)


@pytest.mark.parametrize("options", [[], ["--no-cache"], ["--exit-zero"], ["--format", "concise"]])
def test_in_a_check_of_the_whole_project_it_is_a_mistake(
    settings: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    assert main(["check", *options]) == 2
    assert main(["check", *options]) == 2, "the same when it is read back"

    out, err = capsys.readouterr()
    assert err == f"capturelint: {settings}: {_TOLD}\n" * 2
    assert "matches nothing" not in out


@pytest.mark.parametrize("command", [["check"], ["roots"]])
@pytest.mark.parametrize("paths", [["pkg"], [".", "--exclude", "other"]])
def test_of_a_part_of_the_project_it_is_a_warning(
    settings: Path, capsys: pytest.CaptureFixture[str], command: list[str], paths: list[str]
) -> None:
    assert main([*command, *paths]) == 0
    assert capsys.readouterr().err == f"capturelint: warning: {settings}: {_TOLD}\n"


@pytest.mark.parametrize("command", [["check"], ["roots"]])
def test_of_files_named_one_by_one_nothing_is_said(
    capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert main([*command, "pkg/model.py"]) == 0
    assert capsys.readouterr().err == ""


def test_where_a_file_cannot_be_read_it_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pkg/torn.py").write_text("def decoder(:\n")

    assert main(["check"]) == 1
    assert capsys.readouterr().err.startswith("capturelint: warning: ")


@pytest.mark.parametrize(("path", "key"), [(".", "errors"), ("pkg", "warnings")])
def test_json_has_it_too(capsys: pytest.CaptureFixture[str], path: str, key: str) -> None:
    main(["check", path, "--format", "json"])

    document = json.loads(capsys.readouterr().out)
    assert [document["errors"], document["warnings"]].count([]) == 1
    assert document[key] == [_TOLD]
