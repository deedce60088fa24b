"""`check --fix` and `--diff` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from capturelint.cli.main import main
from tests.repositories import alone, commit, git, needs_git

pytestmark = needs_git

OLD = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        print(torch.tensor(1.0, device=x.device))
        y = torch.linalg.inv(x[[0, 1]])
        return y * x.max().item()
"""
SAFE = OLD.replace(
    "        print(torch.tensor(1.0,",
    "        if not (torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()):\n"
    "            print(torch.full((), 1.0,",
).replace("x[[0, 1]]", "x[torch.arange(2, device=x.device)]")
UNSAFE = SAFE.replace("linalg.inv(", "linalg.inv_ex(").replace("device)])", "device)]).inverse")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to a repository of one file, committed."""
    alone(monkeypatch)
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet", "--initial-branch=main")
    Path("m.py").write_text(OLD, encoding="utf-8")
    Path(".gitignore").write_text(".capturelint_cache\n", encoding="utf-8")
    commit()


def _text() -> str:
    return Path("m.py").read_text(encoding="utf-8")


def test_fixes_are_made_and_the_rest_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", "--fix"])

    out, err = capsys.readouterr()
    assert (code, _text()) == (1, SAFE)
    assert err == "capturelint: fixed 3 findings in 1 file\n"
    assert out == (
        "m.py:9:13: CL801 syncing-linalg [refuses-capture] `torch.linalg.inv()` reads its status on"
        " the host, which capture refuses\n"
        "    y = torch.linalg.inv(x[torch.arange(2, device=x.device)])\n"
        "        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "m.py:10:20: CL101 host-read [refuses-capture] `.item()` reads a tensor on the host during"
        " capture\n"
        "    return y * x.max().item()\n"
        "               ^^^^^^^^^^^^^^\n"
        "`capturelint rule CODE` says why and what to write instead\n"
        "`--fix --unsafe-fixes` rewrites 1 of them, `--diff` instead of `--fix` shows how\n"
        "2 findings, 1 file checked, 1 root, 1 captured function, no preset\n"
    )


@pytest.mark.parametrize("cache", ["--no-cache", "--cache-dir=kept"])
def test_a_second_run_has_nothing_to_do(cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", cache])
    main(["check", "--fix", cache])
    capsys.readouterr()
    commit()

    main(["check", "--fix", cache])

    assert capsys.readouterr().err == "capturelint: nothing to fix\n"
    assert _text() == SAFE


def test_unsafe_fixes_are_made_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--fix", "--unsafe-fixes"])

    assert _text() == UNSAFE
    assert capsys.readouterr().err == "capturelint: fixed 4 findings in 1 file\n"


def test_a_patch_is_shown_that_git_applies(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", "--diff"])

    out, err = capsys.readouterr()
    assert (code, err, _text()) == (1, "capturelint: would fix 3 findings in 1 file\n", OLD)
    Path("fix.patch").write_text(out, encoding="utf-8")
    git("apply", "fix.patch")
    assert _text() == SAFE


def test_a_patch_goes_to_the_file_asked_for() -> None:
    main(["check", "--diff", "--output", "fix.patch"])
    git("apply", "fix.patch")

    assert _text() == SAFE


def test_a_dirty_file_is_left_alone_unless_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    dirty = OLD + "# new\n"
    Path("m.py").write_text(dirty, encoding="utf-8")

    code = main(["check", "--fix"])

    assert (code, _text()) == (2, dirty)
    assert capsys.readouterr().err == (
        "capturelint: m.py not rewritten: it has changes that are not committed; commit them, or"
        " `--allow-dirty` changes it all the same\n"
        "capturelint: nothing to fix\n"
    )
    assert main(["check", "--diff"]) == 1
    assert main(["check", "--fix", "--allow-dirty"]) == 1
    assert _text() == SAFE + "# new\n"


def test_a_finding_that_is_accepted_is_not_fixed() -> None:
    text = OLD.replace("[[0, 1]])", "[[0, 1]])  # capturelint: ignore[CL203, CL801] small")
    Path("m.py").write_text(text, encoding="utf-8")

    main(["check", "--fix", "--allow-dirty", "--unsafe-fixes"])

    assert "x[[0, 1]]" in _text()
    assert "torch.full((), 1.0" in _text()


def test_a_refusal_is_told_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.py").write_text(OLD.replace("[0, 1]", "[0, 1, 5]"), encoding="utf-8")

    main(["check", "--fix", "--allow-dirty", "--select", "CL203"])

    lines = capsys.readouterr().out.splitlines()
    assert lines[3] == (
        "    no fix: the integers of the list are no range; keep the index as a buffer:"
        " `x[self.order]` or `x.index_select(0, self.order)`"
    )


def test_programs_get_fixes_and_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.py").write_text(OLD.replace("y * x", "y[[0, 1, 5]] * x"), encoding="utf-8")

    main(["check", "--format", "json"])

    found = json.loads(capsys.readouterr().out)["findings"]
    told = {(one["line"], one["code"]): (one["fix"], one["refusal"]) for one in found}
    edit = {"line": 8, "column": 32, "end_line": 8, "end_column": 38}
    assert told[8, "CL203"] == (
        {"grade": "proven", "edits": [{**edit, "text": "torch.arange(2, device=x.device)"}]},
        None,
    )
    assert told[8, "CL801"][0]["grade"] == "unsafe"
    assert told[9, "CL203"][0] is None
    assert told[9, "CL203"][1].startswith("the integers of the list are no range; ")
    assert told[9, "CL101"] == (None, None)


def test_fixes_of_a_run_that_is_read_back_are_where_the_lines_are_now(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["check", "--format", "json"])
    before = json.loads(capsys.readouterr().out)["findings"]
    Path("m.py").write_text(f"# new\n{OLD}", encoding="utf-8")

    main(["check", "--format", "json"])
    after = json.loads(capsys.readouterr().out)["findings"]
    main(["check", "--fix", "--allow-dirty"])

    assert [_lines(one) for one in after] == [[line + 1 for line in _lines(one)] for one in before]
    assert _text() == f"# new\n{SAFE}"


def _lines(finding: dict[str, Any]) -> list[int]:
    edits = [] if finding["fix"] is None else finding["fix"]["edits"]
    return [finding["line"], *(edit["line"] for edit in edits)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fix", "--diff"], "`--fix` writes and `--diff` shows; leave one of them out"),
        (["--unsafe-fixes"], "`--unsafe-fixes` needs `--fix` or `--diff` beside it"),
        (["--allow-dirty"], "`--allow-dirty` needs `--fix` or `--diff` beside it"),
        (["--fix", "-"], "`--fix` needs files; leave out `-`"),
        (["--fix", "--since", "main"], "`--fix` goes over all findings; leave out `--since`"),
        (["--diff", "--baseline", "b.json"], "`--diff` goes over all findings; leave out `--baseline`"),
        (["--diff", "--format", "json"], "`--diff` prints a patch; leave out `--format` and `--statistics`"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_a_mistake(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *options]) == 2
    assert capsys.readouterr().err == f"capturelint: {said}\n"
    assert _text() == OLD
