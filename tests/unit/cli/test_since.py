"""`check --since` in real repositories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from capturelint.cli.main import main
from tests.repositories import alone, commit, git, needs_git

pytestmark = needs_git

_MODEL = """\
import torch
from tools import clean, read


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x / x.max().item()
        return clean(y)
"""
_TOOLS = """\
import torch


def clean(x: torch.Tensor):
    return x * 2


def read(x: torch.Tensor):
    return x.sum().item()
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to a repository of two files, both committed."""
    alone(monkeypatch)
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    git("init", "--quiet", "--initial-branch=main")
    _write("model.py", _MODEL)
    _write("tools.py", _TOOLS)
    commit()


def _write(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _found(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """Return the places of the findings of a run, without those that are not due to the change."""
    code = main(["check", *arguments, "--format", "json"])
    out, err = capsys.readouterr()
    assert err == "" and code in (0, 1)
    findings = json.loads(out)["findings"]
    return [f"{one['path']}:{one['line']}" for one in findings]


def test_nothing_changed_is_nothing_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", ".", "--since", "HEAD"]) == 0
    assert capsys.readouterr().out == (
        "0 findings, 2 files checked, 1 root, 2 captured functions, no preset,"
        " 1 not from the change\n"
    )


@pytest.mark.parametrize("staged", [False, True])
def test_a_changed_line_is_found_and_a_moved_one_is_not(
    capsys: pytest.CaptureFixture[str], staged: bool
) -> None:
    changed = _MODEL.replace("return clean(y)", "return clean(y) + x.min().item()")
    _write("model.py", f"# one more line\n{changed}")
    if staged:
        git("add", "--all")

    assert _found(capsys, ".", "--since", "HEAD") == ["model.py:9"]


def test_a_line_of_an_older_commit_is_found_since_before_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _write("model.py", _MODEL.replace("x.max()", "x.min()"))
    commit()

    assert _found(capsys, ".", "--since", "HEAD") == []
    assert _found(capsys, ".", "--since", "HEAD~1") == ["model.py:7"]


def test_what_is_newly_captured_is_found_with_the_way_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _write("model.py", _MODEL.replace("clean(y)", "read(y)"))

    assert main(["check", ".", "--since", "HEAD"]) == 1
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("tools.py:9:12: CL101 host-read [refuses-capture] `.item()` reads")
    assert lines[:5] == [
        "    return x.sum().item()",
        "           ^^^^^^^^^^^^^^",
        "    this line did not change; it is reported because of a change elsewhere",
        "    captured from Model.forward (model.py:8)",
        "            calls read (tools.py:9)",
    ]


def test_only_as_many_equal_lines_are_new_as_there_are_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _write(
        "model.py",
        _MODEL.replace("        return", "        y = x / x.max().item()\n        return"),
    )

    assert len(_found(capsys, ".", "--since", "HEAD")) == 1


def test_an_untracked_file_is_new_and_an_ignored_one_is_nobodys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _write(".gitignore", "made.py\n")
    commit()
    _write("made.py", _MODEL)
    _write("fresh.py", _MODEL)

    assert _found(capsys, ".", "--since", "HEAD") == ["fresh.py:7"]


def test_a_renamed_file_is_not_new(capsys: pytest.CaptureFixture[str]) -> None:
    Path("new").mkdir()
    git("mv", "model.py", "new/other.py")

    assert _found(capsys, ".", "--since", "HEAD") == []
    assert _found(capsys, "new", "--since", "HEAD") == []
    assert _found(capsys, "new/other.py", "--since", "HEAD") == []

    _write("new/other.py", _MODEL.replace("max", "min"))
    assert _found(capsys, ".", "--since", "HEAD") == ["new/other.py:7"]


@pytest.mark.parametrize("name", ["a b:c.py", "é😀.py", 'qu"ote\n.py', "b/b.py"])
def test_a_path_may_be_odd(capsys: pytest.CaptureFixture[str], name: str) -> None:
    _write(name, _MODEL)
    commit()
    _write(name, _MODEL.replace("max", "min"))

    assert _found(capsys, ".", "--since", "HEAD") == [f"{name}:7"]


@pytest.mark.parametrize("setting", ["diff.noprefix", "diff.mnemonicPrefix", "diff.relative"])
def test_settings_of_git_change_nothing(capsys: pytest.CaptureFixture[str], setting: str) -> None:
    git("config", setting, "true")
    git("config", "diff.external", "false")
    _write(".gitattributes", "*.py -diff export-ignore\n")
    commit()
    _write("model.py", _MODEL.replace("max", "min"))

    assert _found(capsys, ".", "--since", "HEAD") == ["model.py:7"]


def test_paths_are_seen_from_the_folder_one_is_in(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _write("sub/inner.py", _MODEL)
    commit()
    _write("sub/inner.py", _MODEL.replace("max", "min"))
    monkeypatch.chdir("sub")

    assert _found(capsys, "--since", "HEAD") == ["inner.py:7"]
    assert _found(capsys, "../model.py", "--since", "HEAD") == []


@pytest.mark.parametrize("is_absolute", [False, True])
def test_a_hook_names_the_repository_as_it_likes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, is_absolute: bool
) -> None:
    _write("sub/inner.py", _MODEL)
    commit()
    _write("sub/inner.py", _MODEL.replace("max", "min"))
    for name, value in (("GIT_DIR", ".git"), ("GIT_INDEX_FILE", ".git/index")):
        monkeypatch.setenv(name, str(Path(value).absolute()) if is_absolute else value)

    assert _found(capsys, "sub", "--since", "HEAD") == ["sub/inner.py:7"]


def test_a_worktree_is_compared_with_its_own_files(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git("worktree", "add", "--quiet", "../other", "-b", "other")
    monkeypatch.chdir("../other")
    _write("model.py", _MODEL.replace("max", "min"))

    assert _found(capsys, ".", "--since", "main") == ["model.py:7"]


def test_files_of_a_submodule_are_compared_with_what_it_was(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    inner = tmp_path / "inner"
    git("clone", "--quiet", str(Path.cwd()), str(inner))
    git("submodule", "--quiet", "add", str(inner), "parts/inner")
    assert _found(capsys, ".", "--since", "HEAD") == ["parts/inner/model.py:7"]

    commit()
    assert _found(capsys, ".", "--since", "HEAD") == []

    _write("parts/inner/model.py", _MODEL.replace("max", "min"))
    _write("parts/inner/fresh.py", _MODEL)
    both = ["parts/inner/fresh.py:7", "parts/inner/model.py:7"]
    assert _found(capsys, ".", "--since", "HEAD") == both
    monkeypatch.chdir("parts/inner")
    assert _found(capsys, ".", "--since", "HEAD") == ["fresh.py:7", "model.py:7"]


def test_three_dots_are_where_head_branched_off(capsys: pytest.CaptureFixture[str]) -> None:
    git("switch", "--quiet", "--create", "mine")
    _write("mine.py", _MODEL)
    commit()
    git("switch", "--quiet", "main")
    _write("model.py", _MODEL.replace("max", "min"))
    commit()
    git("switch", "--quiet", "mine")

    assert _found(capsys, ".", "--since", "main...") == ["mine.py:7"]
    assert _found(capsys, ".", "--since", "main") == ["mine.py:7", "model.py:7"]


def test_a_notebook_is_compared_by_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    cells = [{"cell_type": "code", "source": _MODEL}]
    _write("nb.ipynb", json.dumps({"nbformat": 4, "cells": cells}))
    commit()
    cells.insert(0, {"cell_type": "code", "source": "x = 1"})
    _write("nb.ipynb", json.dumps({"nbformat": 4, "cells": cells}, indent=1))
    assert _found(capsys, ".", "--since", "HEAD") == []

    cells[1]["source"] = _MODEL.replace("max", "min")
    _write("nb.ipynb", json.dumps({"nbformat": 4, "cells": cells}, indent=1))
    assert _found(capsys, ".", "--since", "HEAD") == ["nb.ipynb:7"]


def test_a_file_that_changed_and_cannot_be_read_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _write("broken.py", "x = 1\ndef f(:\n")
    commit()
    assert _found(capsys, ".", "--since", "HEAD") == []

    _write("broken.py", "x = 2\ndef f(:\n")
    assert _found(capsys, ".", "--since", "HEAD") == ["broken.py:2"]


def test_a_baseline_and_a_revision_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", ".", "--write-baseline", "known.json"])
    _write("model.py", _MODEL.replace("return clean(y)", "return clean(y) + x.min().item()"))
    capsys.readouterr()

    found = _found(capsys, ".", "--since", "HEAD", "--baseline", "known.json")
    assert found == ["model.py:8"]


def test_links_are_followed_as_today(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _write("real/part.py", _MODEL)
    Path("linked").symlink_to("real", target_is_directory=True)
    Path("loop").symlink_to(".", target_is_directory=True)
    Path("out.py").symlink_to(tmp_path / "elsewhere.py")
    (tmp_path / "elsewhere.py").write_text(_MODEL, encoding="utf-8")
    commit()
    _write("real/part.py", _MODEL.replace("max", "min"))

    main(["check", ".", "--since", "HEAD", "--format", "json"])
    places = [one["path"] for one in json.loads(capsys.readouterr().out)["findings"]]
    assert places == ["real/part.py"]


def test_a_link_that_leads_nowhere_now_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    Path("old.py").symlink_to(tmp_path / "gone.py")
    commit()
    _write("sub/x.py", "x = 1\n")
    Path("sub/new.py").symlink_to(tmp_path / "gone.py")
    Path("tools.py").unlink()
    Path("tools.py").symlink_to("gone.py")

    assert _found(capsys, ".", "--since", "HEAD") == ["sub/new.py:1", "tools.py:1"]


def _complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the one line that a run says before any work, with exit code 2."""
    assert main(["check", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err.removeprefix("capturelint: ").rstrip("\n")


def test_outside_a_repository_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))

    assert _complaint(capsys, ".", "--since", "HEAD") == (
        f"`--since`: {tmp_path} is in no git repository; leave the option out"
    )


@pytest.mark.parametrize("revision", ["gone", "gone...", "", "-x", "HEAD:model.py", "a..b"])
def test_no_such_revision_is_one_line(capsys: pytest.CaptureFixture[str], revision: str) -> None:
    assert _complaint(capsys, ".", f"--since={revision}") == (
        f"`--since`: no revision {revision!r} in {Path.cwd()}; the branch is main"
    )


def test_a_repository_without_a_commit_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    git("init", "--quiet", str(tmp_path / "empty"))
    monkeypatch.chdir(tmp_path / "empty")

    assert _complaint(capsys, ".", "--since", "HEAD").startswith(
        "`--since`: no revision 'HEAD' in "
    )


def test_a_shallow_clone_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _write("more.py", "x = 1\n")
    commit()
    url = Path.cwd().as_uri()
    git("clone", "--quiet", "--depth=1", url, str(tmp_path / "shallow"))
    monkeypatch.chdir(tmp_path / "shallow")

    assert _complaint(capsys, ".", "--since", "HEAD~1") == (
        f"`--since`: no revision 'HEAD~1' in {Path.cwd()}, a shallow clone; fetch more, as with"
        " `git fetch --unshallow`"
    )


def test_a_missing_git_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert _complaint(capsys, ".", "--since", "HEAD") == (
        "`--since`: git is not installed, or not on PATH; install it"
    )


def test_a_path_outside_the_repository_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "x.py").touch()

    assert _complaint(capsys, ".", "../x.py", "--since", "HEAD") == (
        f"`--since`: ../x.py is outside the git repository {Path.cwd()}; check it without the option"
    )


def test_standard_input_has_no_revision(capsys: pytest.CaptureFixture[str]) -> None:
    assert _complaint(capsys, "-", "--since", "HEAD") == "`--since` compares files; leave out `-`"


@pytest.mark.parametrize("form", ["json", "sarif", "github", "concise"])
def test_every_format_tells_what_a_change_elsewhere_brought(
    capsys: pytest.CaptureFixture[str], form: str
) -> None:
    _write("model.py", _MODEL.replace("clean(y)", "read(y)"))

    assert main(["check", ".", "--since", "HEAD", "--format", form]) == 1
    out = capsys.readouterr().out
    assert any(word in out for word in ('"distant":true', "(this line did not change;"))


def test_of_an_unknown_revision_the_branches_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    git("branch", "other")

    assert main(["check", ".", "--since", "master"]) == 2
    told = capsys.readouterr().err
    assert told.rstrip().endswith(("branches are main, other", "branches are other, main"))
