"""The command line over the configuration file."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from capturelint.cli import check
from capturelint.cli.settings import (
    MixedPresetError,
    UnknownCodeError,
    check_codes,
    settings,
    with_selection,
)
from capturelint.config import Config, Scope
from capturelint.errors import ConfigError
from capturelint.preset import UnknownPresetError

_RULES = ("CL101", "CL102", "CL201")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with settings, which is also the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        "[tool.capturelint]\n"
        'select = ["CL1"]\nextend-select = ["CL201"]\nignore = ["CL102"]\n'
        'exclude = ["a"]\npreset = "vllm"\nscope = "step"\njobs = 2\n',
        encoding="utf-8",
    )
    return tmp_path


def _settings(*arguments: str) -> Config:
    parser = argparse.ArgumentParser()
    check.add_arguments(parser)
    options = parser.parse_args(arguments)
    return with_selection(settings(options, Path()), options)


@pytest.mark.usefixtures("project")
def test_without_options_the_file_decides(project: Path) -> None:
    assert _settings() == Config(
        root=project,
        select=("CL1",),
        extend_select=("CL201",),
        ignore=("CL102",),
        exclude=("a",),
        preset=("vllm",),
        scope=Scope.STEP,
        jobs=2,
    )


@pytest.mark.usefixtures("project")
def test_select_stands_in_for_the_files_selection() -> None:
    config = _settings("--select", "cl102,CL2", "--select", "CL101", "--ignore", "CL201")

    assert (config.select, config.extend_select, config.ignore) == (
        ("CL102", "CL2", "CL101"),
        (),
        ("CL201",),
    )


@pytest.mark.usefixtures("project")
def test_the_other_lists_add_to_the_file() -> None:
    config = _settings("--extend-select", "CL202", "--ignore", "CL103 , CL104", "--exclude", "b,c")

    assert config.extend_select == ("CL201", "CL202")
    assert config.ignore == ("CL102", "CL103", "CL104")
    assert config.exclude == ("a", "b", "c")


@pytest.mark.usefixtures("project")
def test_scope_and_jobs_on_the_command_line_win() -> None:
    config = _settings("--scope", "captured", "--jobs", "0")

    assert (config.scope, config.jobs) == (Scope.CAPTURED, 0)


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("arguments", "preset"),
    [
        (["--preset", "none"], ()),
        (["--preset", "auto"], None),
        (["--preset", "sglang,vllm"], ("sglang", "vllm")),
    ],
)
def test_presets_on_the_command_line_win(
    arguments: list[str], preset: tuple[str, ...] | None
) -> None:
    assert _settings(*arguments).preset == preset


@pytest.mark.usefixtures("project")
def test_an_unknown_preset_names_the_nearest() -> None:
    with pytest.raises(UnknownPresetError, match="no preset 'vlm'; did you mean vllm"):
        _settings("--preset", "vlm")


def test_an_unknown_preset_in_the_file_names_the_file(project: Path) -> None:
    file = project / "pyproject.toml"
    file.write_text('[tool.capturelint]\npreset = "vlm"\n', encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        _settings()

    assert str(caught.value) == f"{file}: no preset 'vlm'; did you mean vllm?"
    assert _settings("--preset", "none").preset == ()


@pytest.mark.usefixtures("project")
def test_no_preset_and_a_preset_contradict_each_other() -> None:
    with pytest.raises(MixedPresetError, match="preset none excludes every other"):
        _settings("--preset", "none", "--preset", "vllm")


@pytest.mark.parametrize("jobs", ["-1", "two", "1.5"])
def test_jobs_must_be_a_number(jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _settings(f"--jobs={jobs}")

    assert f"{jobs!r} is no number of processes; give 0 or more" in capsys.readouterr().err


def test_the_scopes_of_the_command_line_are_those_of_the_file() -> None:
    parser = argparse.ArgumentParser()
    check.add_arguments(parser)

    for scope in Scope:
        assert parser.parse_args(["--scope", scope.value]).scope == scope.value
    with pytest.raises(SystemExit):
        parser.parse_args(["--scope", "everything"])


@pytest.mark.parametrize(
    "config",
    [
        Config(Path(), select=("CL1", "CL201", "C", "CL0", "CL002")),
        Config(Path(), per_file_ignores=(("*.py", ("CL1",)),)),
    ],
)
def test_codes_and_their_beginnings_are_known(config: Config) -> None:
    check_codes(config, _RULES)

    assert config.selects("CL101")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            Config(Path(), select=("CL110",)),
            "no rule begins with 'CL110' (select); did you mean CL101?",
        ),
        (
            Config(Path(), extend_select=("E501",)),
            "no rule begins with 'E501' (extend-select); `capturelint rule --all` lists them",
        ),
        (
            Config(Path(), ignore=("CL22",)),
            "no rule begins with 'CL22' (ignore); did you mean CL201?",
        ),
        (
            Config(Path(), per_file_ignores=(("a.py", ("CL1", "CL9")),)),
            "no rule begins with 'CL9' (per-file-ignores a.py); `capturelint rule --all` lists them",
        ),
    ],
)
def test_a_code_of_no_rule_names_the_nearest(config: Config, message: str) -> None:
    with pytest.raises(UnknownCodeError) as caught:
        check_codes(config, _RULES)

    assert str(caught.value) == message
