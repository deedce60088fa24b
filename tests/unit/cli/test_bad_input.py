"""A folder of everything that can be wrong with a file: each is said once, the rest is checked."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from capturelint.cli.main import main

_MODEL = """\
from torch import nn

class Model(nn.Module):
    def forward(self, x):
        return x.sum().item()
"""


@pytest.fixture
def mess(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make the working directory hold good.py, clean.py and bad files, and return the bad ones."""
    monkeypatch.chdir(tmp_path)
    Path("good.py").write_text(_MODEL, encoding="utf-8")
    Path("clean.py").touch()
    bad = {
        "binary.py": b"\x7fELF\x02\x01\x01\0\0",
        "encoding.py": b"x = '\xe9'\n",
        "declared.py": b"# coding: klingon\n",
        "null.py": b"x = 1\0\n",
        "utf16.py": _MODEL.encode("utf-16"),
        "syntax.py": b"def f(:\n",
        "indent.py": b"def f():\n    a\n  b\n",
        "python2.py": b"print 'hello'\n",
        "newer.py": b"type = = 1\n",
        "large.py": b"# filler\n" * (10 * 2**20 // 9),
        "minus.py": b"x = " + b"-" * 5000 + b"1\n",
        "brackets.py": b"x = " + b"[" * 5000 + b"]" * 5000,
        "branches.py": b"if a:\n  pass\n" + b"elif b:\n  pass\n" * 5000,
    }
    for name, data in bad.items():
        Path(name).write_bytes(data)
    Path("dangling.py").symlink_to("nothing")
    Path("circle.py").symlink_to("circle.py")
    Path("up").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo("pipe.py")
    Path("folder.py").mkdir()
    return sorted([*bad, "dangling.py", "circle.py", "up", "pipe.py"])


def test_each_bad_file_is_said_once_and_the_rest_is_checked(
    mess: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["check", ".", "--format", "json"])

    document = json.loads(capsys.readouterr().out)
    found = Counter((finding["path"], finding["code"]) for finding in document["findings"])
    assert code == 1
    assert found == {**{(name, "CL000"): 1 for name in mess}, ("good.py", "CL101"): 1}
    assert document["errors"] == []


def test_each_bad_file_is_said_when_named(
    mess: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    mess.remove("up")

    code = main(["check", *mess, "good.py", "gone.py", "--format", "json"])

    out, err = capsys.readouterr()
    found = Counter((f["path"], f["code"]) for f in json.loads(out)["findings"])
    assert code == 2
    assert found == {
        **{(name, "CL000"): 1 for name in mess},
        ("good.py", "CL101"): 1,
    }
    assert err == "capturelint: no such file or folder: gone.py\n"


def test_the_summary_counts_what_was_not_checked(
    mess: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", ".", "--no-color"])

    out = capsys.readouterr().out
    assert out.splitlines()[-1].endswith(f", {len(mess)} not checked (CL000)")
    assert all(line.isprintable() for line in out.splitlines())


@pytest.mark.usefixtures("mess")
def test_nothing_that_is_wrong_with_a_file_can_be_ignored_away(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("noqa.py").write_text("def f(:  # noqa  # capturelint: ignore\n", encoding="utf-8")

    assert main(["check", "noqa.py", "--select", "CL101"]) == 1
    assert capsys.readouterr().out.startswith("noqa.py:1:7: CL000 unreadable-file not valid")


@pytest.mark.usefixtures("mess")
def test_roots_are_listed_past_bad_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["roots", "."]) == 0
    assert "good.Model.forward" in capsys.readouterr().out
