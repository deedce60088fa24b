"""`check` with a baseline, on real files."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from capturelint.cli.main import main

_MODEL = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / x.max().item()
"""
_MORE = "        if x.sum() > 0:\n            x = x + 1\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(_MODEL, encoding="utf-8")


def _more() -> None:
    """Add a finding above the known one."""
    text = _MODEL.replace("        return", f"{_MORE}        return")
    Path("m.py").write_text(f"# moved\n\n{text}", encoding="utf-8")


def test_what_was_written_is_not_shown_and_what_is_new_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", ".", "--write-baseline", "known.json"]) == 0
    assert capsys.readouterr() == (
        "0 findings, 1 file checked, 1 root, 1 captured function, no preset, 1 in the baseline\n",
        "",
    )
    _more()

    assert main(["check", ".", "--baseline", "known.json", "--format", "concise"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[0].startswith("m.py:8:12: CL401 ")
    assert out.splitlines()[1].startswith("1 finding, ")
    assert out.endswith(", 1 in the baseline\n")
    assert err == ""


def test_json_counts_what_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", ".", "--write-baseline", "known.json"])
    capsys.readouterr()

    assert main(["check", ".", "--baseline", "known.json", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["findings"], document["baselined"]) == ([], 1)


def test_entries_that_no_longer_match_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", ".", "--write-baseline", "known.json"])
    Path("m.py").write_text(_MODEL.replace(".item()", ""), encoding="utf-8")
    capsys.readouterr()

    assert main(["check", ".", "--baseline", "known.json"]) == 0
    assert capsys.readouterr().err == (
        "capturelint: baseline known.json: 1 entry matched by nothing any more, the first CL101 in"
        " m.Model.forward (m.py); `--write-baseline known.json` leaves them out\n"
    )


@pytest.mark.parametrize(
    "arguments", [["other.py"], [".", "--select", "CL4"], ["-", "--stdin-filename", "other.py"]]
)
def test_entries_that_were_not_looked_for_are_not_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    main(["check", ".", "--write-baseline", "known.json"])
    Path("other.py").write_text(_MODEL.replace(".item()", ""), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    capsys.readouterr()

    assert main(["check", *arguments, "--baseline", "known.json"]) == 0
    assert "baseline" not in capsys.readouterr().err


def test_a_file_that_is_gone_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", ".", "--write-baseline", "known.json"])
    Path("m.py").rename("n.py")

    assert main(["check", ".", "--baseline", "known.json"]) == 1
    assert "1 entry matched by nothing any more" in capsys.readouterr().err


def test_a_baseline_serves_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["check", ".", "--write-baseline", "known.json"])
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir("sub")

    assert main(["check", "..", "--baseline", "../known.json"]) == 0
    assert main(["check", str(tmp_path), "--baseline", str(tmp_path / "known.json")]) == 0


def test_reading_and_writing_at_once_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", ".", "--baseline", "a", "--write-baseline", "b"]) == 2
    assert capsys.readouterr().err == (
        "capturelint: `--write-baseline` records all findings; leave out `--baseline`\n"
    )


def test_a_missing_baseline_is_one_line_before_the_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("capturelint.lint.engine.check", None)

    assert main(["check", ".", "--baseline", "gone.json"]) == 2
    assert capsys.readouterr() == (
        "",
        (
            "capturelint: baseline gone.json is not there; `--write-baseline gone.json` writes a new"
            " one\n"
        ),
    )


def test_a_run_with_a_missing_path_writes_no_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    Path("known.json").write_text("before", encoding="utf-8")

    assert main(["check", "m.py", "gone.py", "--write-baseline", "known.json"]) == 2
    assert capsys.readouterr().err.splitlines()[1] == (
        "capturelint: known.json not written, because a path is missing; correct the paths"
    )
    assert Path("known.json").read_text(encoding="utf-8") == "before"


def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["check", ".", "--write-baseline", "gone/known.json"]) == 2
    assert capsys.readouterr().err.startswith("capturelint: cannot write gone/known.json: ")


def test_a_notebook_has_a_baseline_too(capsys: pytest.CaptureFixture[str]) -> None:
    cell = {"cell_type": "code", "source": _MODEL}
    text = json.dumps({"nbformat": 4, "cells": [cell]})
    Path("nb.ipynb").write_text(text, encoding="utf-8")
    main(["check", ".", "--write-baseline", "known.json"])
    moved = json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": "x = 1"}, cell]})
    Path("nb.ipynb").write_text(moved, encoding="utf-8")
    capsys.readouterr()

    assert main(["check", ".", "--baseline", "known.json"]) == 0
    assert capsys.readouterr().out.endswith(", 2 in the baseline\n")
