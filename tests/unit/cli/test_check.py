"""`check` as a user meets it, with the engine's answers given by hand."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from capturelint.cli.main import main
from capturelint.config import Config, Scope
from capturelint.finding import Effect, Finding, Span
from capturelint.lint import engine
from capturelint.lint.cache.seen import Seen
from capturelint.lint.cache.store import FactsStore
from capturelint.lint.registry import RuleEntry
from capturelint.lint.result import CheckResult
from capturelint.lint.subjects import Mender
from capturelint.report.text import NO_ROOTS

_READ = Finding(
    "CL101", "host-read", (Effect.REFUSES,), "reads", "m.py", Span(1, 4, 1, 12), source="n = x.item()"
)  # fmt: skip
_FOUND = CheckResult(
    findings=(_READ,), roots=1, captured_functions=2, files=1, presets=(), errors=()
)
_CLEAN = replace(_FOUND, findings=())


@dataclass
class _Engine:
    """Answers with `result` and remembers what it was asked."""

    result: CheckResult = _FOUND
    paths: list[Path] = field(default_factory=list)
    config: Config | None = None
    stdin: tuple[Path, str] | None = None

    def check(
        self,
        paths: Sequence[Path],
        config: Config,
        rules: Sequence[RuleEntry],
        *,
        stdin: tuple[Path, str] | None = None,
        progress: Callable[[str], None] | None = None,
        store: FactsStore | None = None,
        seen: Seen | None = None,
        mend: Mender | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> CheckResult:
        assert mend is not None
        assert not texts
        assert (seen is None) == (stdin is not None)
        assert store is None or seen is not None
        assert progress is None, "there is no terminal here"
        assert rules
        self.paths, self.config, self.stdin = list(paths), config, stdin
        return self.result


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Engine:
    """Return an engine of our own, in a working directory that holds `m.py`."""
    ours = _Engine()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engine, "check", ours.check)
    Path("m.py").touch()
    return ours


def _stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.usefixtures("asked")
def test_a_finding_is_shown_and_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", "m.py"])

    out, err = capsys.readouterr()
    assert code == 1
    assert out == (
        "m.py:1:5: CL101 host-read [refuses-capture] reads\n"
        "    n = x.item()\n"
        "        ^^^^^^^^\n"
        "`capturelint rule CODE` says why and what to write instead\n"
        "1 finding, 1 file checked, 1 root, 2 captured functions, no preset\n"
    )
    assert err == ""


def test_nothing_found_exits_with_0(asked: _Engine, capsys: pytest.CaptureFixture[str]) -> None:
    asked.result = _CLEAN

    assert main(["check", "m.py"]) == 0
    assert capsys.readouterr().out == (
        "0 findings, 1 file checked, 1 root, 2 captured functions, no preset\n"
    )


def test_without_paths_the_working_directory_is_checked(asked: _Engine) -> None:
    main(["check"])

    assert asked.paths == [Path()]
    assert asked.stdin is None


def test_options_reach_the_engine(asked: _Engine) -> None:
    main(["check", "m.py", "--scope", "all", "--preset", "none", "--jobs", "3", "--exclude", "x"])

    assert asked.config == Config(
        root=Path.cwd(), scope=Scope.ALL, preset=(), jobs=3, exclude=("x",)
    )


def test_exit_zero_hides_findings_but_no_mistake(asked: _Engine) -> None:
    assert main(["check", "m.py", "--exit-zero"]) == 0
    assert main(["check", "gone.py", "--exit-zero"]) == 2
    assert asked.paths == []


def test_a_missing_path_exits_with_2_and_the_rest_is_checked(
    asked: _Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["check", "gone.py", "m.py"])

    out, err = capsys.readouterr()
    assert code == 2
    assert asked.paths == [Path("m.py")]
    assert out.startswith("m.py:1:5: CL101")
    assert err == "capturelint: no such file or folder: gone.py\n"


def test_a_link_to_nothing_is_a_finding_not_a_missing_path(
    asked: _Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("gone.py").symlink_to("nothing")

    assert main(["check", "gone.py"]) == 1
    assert asked.paths == [Path("gone.py")]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("options", [[], ["--exit-zero"]])
def test_a_folder_without_a_python_file_is_a_mistake(
    asked: _Engine, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    asked.result = replace(_CLEAN, files=0, roots=0, captured_functions=0)

    assert main(["check", ".", *options]) == 2
    assert capsys.readouterr() == (
        "0 findings, 0 files checked, 0 roots, 0 captured functions, no preset\n",
        (
            "capturelint: no Python file or notebook in .; files that `exclude` or a skipped folder"
            " (hidden, build, environment) leaves out do not count\n"
        ),
    )


def test_of_files_named_one_by_one_all_may_be_left_out(
    asked: _Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    asked.result = replace(_CLEAN, files=0, roots=0, captured_functions=0)
    Path("m.py").touch()

    assert main(["check", "m.py"]) == 0
    assert capsys.readouterr().err.startswith("capturelint: warning: no Python file or notebook")


def test_no_python_file_and_a_missing_path_is_one_line(
    asked: _Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    asked.result = replace(_CLEAN, files=0, roots=0)

    assert main(["check", "gone"]) == 2
    assert capsys.readouterr().err == "capturelint: no such file or folder: gone\n"


def test_an_internal_error_exits_with_3(asked: _Engine) -> None:
    asked.result = replace(_FOUND, findings=(replace(_READ, code="CL001"),))

    assert main(["check", "m.py", "--exit-zero"]) == 3


@pytest.mark.usefixtures("asked")
def test_json_is_printed_as_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "m.py", "--format", "json"]) == 1

    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert list(json.loads(out)) == [
        "version",
        "findings",
        "roots",
        "captured_functions",
        "step_functions",
        "files",
        "errors",
        "warnings",
        "baselined",
        "older",
    ]
    assert err == ""


@pytest.mark.usefixtures("asked")
def test_concise_is_a_line_for_each_finding_and_the_summary(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", "m.py", "--format", "concise"]) == 1
    assert capsys.readouterr().out == (
        "m.py:1:5: CL101 host-read [refuses-capture] reads\n"
        "1 finding, 1 file checked, 1 root, 2 captured functions, no preset\n"
    )


@pytest.mark.parametrize(
    ("workspace", "file"),
    [("..", "{here}/m.py"), (".", "m.py"), ("../other", "m.py"), ("", "m.py")],
)
@pytest.mark.usefixtures("asked")
def test_github_sees_paths_from_the_top_of_its_checkout(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    workspace: str,
    file: str,
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", workspace)

    assert main(["check", "m.py", "--format", "github"]) == 1
    assert capsys.readouterr().out == (
        f"::error file={file.format(here=Path.cwd().name)},line=1,endLine=1,col=5,endColumn=13,"
        "title=CL101 host-read::reads [refuses-capture]\n"
        "1 finding, 1 file checked, 1 root, 2 captured functions, no preset\n"
    )


@pytest.mark.usefixtures("asked")
def test_sarif_tells_of_this_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "m.py", "--format", "sarif"]) == 1

    [run] = json.loads(capsys.readouterr().out)["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["CL101"]


@pytest.mark.parametrize(
    "arguments",
    [["--format", "json"], ["--format", "sarif"], ["--format", "github"], ["--output", "r.txt"]],
)
def test_no_root_is_said_on_stderr_when_nobody_reads_the_report(
    asked: _Engine, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    asked.result = replace(_CLEAN, roots=0)

    assert main(["check", "m.py", *arguments]) == 0
    assert capsys.readouterr().err == f"capturelint: {NO_ROOTS}\n"


@pytest.mark.parametrize(("scope", "said"), [("captured", True), ("step", True), ("all", False)])
def test_no_root_is_no_news_when_all_code_is_checked(
    asked: _Engine, capsys: pytest.CaptureFixture[str], scope: str, said: bool
) -> None:
    asked.result = replace(_CLEAN, roots=0)

    main(["check", "m.py", "--scope", scope])

    assert (NO_ROOTS in capsys.readouterr().out) is said


def test_statistics_stand_in_for_findings(
    capsys: pytest.CaptureFixture[str], asked: _Engine
) -> None:
    asked.result = replace(_FOUND, findings=(_READ, _READ))

    assert main(["check", "m.py", "--statistics"]) == 1
    assert capsys.readouterr().out == (
        "2  CL101  host-read\n"
        "2  refuses-capture\n"
        "2  m.py\n"
        "`capturelint rule CODE` says why and what to write instead\n"
        "2 findings, 1 file checked, 1 root, 2 captured functions, no preset\n"
    )


@pytest.mark.usefixtures("asked")
def test_statistics_stand_beside_findings_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "m.py", "--statistics", "--format", "json"]) == 1

    document = json.loads(capsys.readouterr().out)
    assert len(document["findings"]) == 1
    assert document["statistics"]["codes"] == [{"code": "CL101", "name": "host-read", "count": 1}]


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("name", ["concise", "github", "sarif"])
def test_statistics_have_no_place_in_other_formats(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert main(["check", "m.py", "--statistics", "--format", name]) == 2
    assert capsys.readouterr().err == (
        f"capturelint: `--statistics` has no place in {name}; use `--format text` or `json`\n"
    )


@pytest.mark.usefixtures("asked")
def test_output_goes_to_the_file_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "m.py", "--output", "report.txt"]) == 1
    assert capsys.readouterr() == ("", "")
    assert Path("report.txt").read_text(encoding="utf-8").startswith("m.py:1:5: CL101")


def test_a_folder_as_output_is_refused_before_the_work(
    asked: _Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "m.py", "--output", "."]) == 2
    assert capsys.readouterr().err == (
        "capturelint: cannot write .: it is a folder; name a file in it\n"
    )
    assert asked.paths == []


@pytest.mark.usefixtures("asked")
def test_an_unknown_code_is_refused_before_the_work(
    asked: _Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "m.py", "--select", "XY9"]) == 2
    assert capsys.readouterr().err.startswith("capturelint: no rule begins with 'XY9' (select);")
    assert asked.paths == []


def test_an_unknown_code_in_the_file_names_the_file(
    asked: _Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("pyproject.toml").write_text('[tool.capturelint]\nignore = ["XY9"]\n', encoding="utf-8")
    Path("own.toml").write_text('select = ["XY8"]\n', encoding="utf-8")

    assert main(["check", "m.py", "--ignore", "CL101"]) == 2
    assert main(["check", "m.py", "--config", "own.toml"]) == 2
    assert capsys.readouterr().err == (
        f"capturelint: {Path.cwd() / 'pyproject.toml'}: no rule begins with 'XY9' (ignore);"
        " `capturelint rule --all` lists them\n"
        "capturelint: own.toml: no rule begins with 'XY8' (select);"
        " `capturelint rule --all` lists them\n"
    )
    assert asked.paths == []


def test_stdin_is_checked_under_the_given_name(
    asked: _Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _stdin(monkeypatch, b"\xef\xbb\xbfx = '\xc3\xa9'\r\n")

    main(["check", "-", "--stdin-filename", "pkg/model.py"])

    assert asked.paths == []
    assert asked.stdin == (Path("pkg/model.py"), "x = 'é'\r\n")


def test_stdin_has_a_name_of_its_own(asked: _Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    _stdin(monkeypatch, b"")

    main(["check", "-"])

    assert asked.stdin == (Path("stdin.py"), "")


@pytest.mark.usefixtures("asked")
def test_stdin_that_is_no_text_is_a_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _stdin(monkeypatch, b"a\0b")

    assert main(["check", "-"]) == 1
    assert capsys.readouterr().out.splitlines()[0] == (
        "stdin.py:1:2: CL000 unreadable-file is binary: it contains a null byte"
    )


@pytest.mark.usefixtures("asked")
def test_stdin_named_as_a_notebook_must_be_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _stdin(monkeypatch, b"{}")

    assert main(["check", "-", "--stdin-filename", "a.ipynb"]) == 1
    assert capsys.readouterr().out.splitlines()[0] == (
        "a.ipynb:1:1: CL000 unreadable-file is no notebook: it has no `nbformat`"
    )


@pytest.mark.usefixtures("asked")
def test_stdin_and_a_file_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "-", "m.py"]) == 2
    assert capsys.readouterr().err == (
        "capturelint: `-` reads standard input and stands alone; leave out the other paths\n"
    )


@pytest.mark.usefixtures("asked")
def test_an_interrupt_is_one_line_and_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> CheckResult:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "check", interrupted)

    assert main(["check", "m.py"]) == 130
    assert capsys.readouterr() == ("", "capturelint: interrupted\n")


def test_help_says_what_the_scopes_are_and_what_may_be_repeated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--help"])

    shown = " ".join(capsys.readouterr().out.split())
    assert "breaks under CUDA graph capture." in shown
    for scope in ("captured", "step", "all"):
        assert f" {scope}: " in shown
    assert shown.count("(repeat, or separate by commas)") == 5


@pytest.mark.parametrize("command", ["bisect", "check", "roots"])
def test_declaring_options_loads_nothing_heavy(command: str) -> None:
    program = (
        "import argparse, importlib, sys\n"
        f"module = importlib.import_module('capturelint.cli.{command}')\n"
        "module.add_arguments(argparse.ArgumentParser())\n"
        "print(sorted({'libcst', 'rich', 'torch', 'pathspec', 'ast', 'tomllib', 'dataclasses'}"
        " & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n"
