"""`capturelint rule`: one page, the list, JSON, unknown codes, the user's own rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from capturelint.cli.main import main
from capturelint.lint.codes import OWN, OwnCode
from capturelint.lint.registry import builtin_rules
from capturelint.report import page

_CODES = ["CL000", "CL001", "CL002", *(entry.code for entry in builtin_rules())]


def test_a_code_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    first = builtin_rules()[0]

    assert main(["rule", first.code.lower()]) == 0
    assert capsys.readouterr().out == page.render(first) + "\n"


def test_all_lists_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "--all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[::2]] == _CODES
    assert all(line.startswith("       ") and line.endswith(".") for line in lines[1::2])


def test_all_as_json_lists_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "--all", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)["rules"]
    assert [rule["code"] for rule in listed] == _CODES


def test_one_as_json_lists_one_rule(capsys: pytest.CaptureFixture[str]) -> None:
    first = builtin_rules()[0]

    assert main(["rule", first.code, "--format", "json"]) == 0
    assert capsys.readouterr().out == page.render_json([first]) + "\n"


@pytest.mark.parametrize("own", OWN)
def test_a_code_of_the_tools_own_has_a_page(
    own: OwnCode, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rule", own.code.lower()]) == 0
    assert capsys.readouterr().out.startswith(f"# {own.code} {own.name}\n\n")
    assert main(["rule", own.name]) == 0
    assert capsys.readouterr().out.startswith(f"# {own.code} {own.name}\n\n")
    assert main(["rule", own.code, "--format", "json"]) == 0
    assert capsys.readouterr().out == page.render_json([own]) + "\n"


def test_of_an_unknown_code_the_nearest_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    last = builtin_rules()[-1].code

    assert main(["rule", last + "0"]) == 2
    assert capsys.readouterr().err == (f"capturelint: no rule '{last}0'; did you mean {last}?\n")


@pytest.mark.parametrize("arguments", [["rule"], ["rule", "CL101", "--all"]])
def test_one_of_code_and_all_is_needed(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)

    assert caught.value.code == 2


def test_rules_of_a_users_folder_are_listed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = builtin_rules()[0]
    own = tmp_path / "own" / "cl991_poke.py"
    own.parent.mkdir()
    own.write_text(first.path.read_text().replace(first.code, "CL991"))
    (tmp_path / "pyproject.toml").write_text('[tool.capturelint]\nrule-folders = ["own"]\n')
    monkeypatch.chdir(tmp_path)

    assert main(["rule", "--all"]) == 0
    assert "\nCL991  " in capsys.readouterr().out
