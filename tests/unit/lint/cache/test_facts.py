"""Facts as JSON and back, with nothing lost."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from capturelint.bundle import bundled
from capturelint.lint.cache.facts import decode, encode
from capturelint.lint.discovery import Problem
from capturelint.lint.indexing import index_one, indexed
from capturelint.names import FileFacts

_SOURCE = """\
import os, torch.nn as nn
from .near import *
from . import far as f
LIMIT = 3
NAME = "\\ud800ü"

@decorated(mode="reduce-overhead")
class Model(nn.Module):  # capturelint: captured
    size: int = 4
    kind = "a"

    def __init__(self, other):
        self.a = self.b = 1
        other.flag = True

    def forward(self, x):
        def inner(): pass
        with torch.cuda.graph(self.g): pass
"""


def _again(path: Path, result: FileFacts | Problem) -> FileFacts | Problem:
    said, lines = encode(result)
    assert (said + lines).isascii()
    is_package = isinstance(result, FileFacts) and result.is_package
    module = result.module if isinstance(result, FileFacts) else "m"
    return decode((path, module, is_package), json.loads(said), json.loads(lines))


@pytest.mark.parametrize("text", ["", _SOURCE, "def broken(:\n", "x = '\x00'\n"])
def test_facts_and_problems_come_back_whole(text: str, tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(text, encoding="utf-8")
    result = index_one((path, "pkg.m", False)).result

    assert _again(path, result) == result


def test_the_facts_of_all_fixtures_come_back_whole() -> None:
    for path in sorted(bundled("fixtures").glob("*.py")):
        result = index_one((path, path.stem, False)).result

        assert _again(path, result) == result


def test_several_processes_say_what_one_says(tmp_path: Path) -> None:
    names = [f"m{number}" for number in range(450)]
    for number, name in enumerate(names):
        (tmp_path / f"{name}.py").write_text(_SOURCE if number % 3 else "def broken(:\n")
    files = [(tmp_path / f"{name}.py", name, False) for name in names]

    alone, together = (
        # A file has a stamp only some time after it was written.
        [replace(one, stamp=None) for one in indexed(files, {}, jobs=jobs, encoded=True)]
        for jobs in (1, 2)
    )

    assert together == alone


def test_lines_are_apart_from_what_is_said(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    said = []
    for text in (_SOURCE, f"# moved\n\n{_SOURCE}", _SOURCE.replace("LIMIT = 3", "LIMIT = 4")):
        path.write_text(text, encoding="utf-8")
        said.append(encode(index_one((path, "m", False)).result)[0])

    assert said[0] == said[1] != said[2]
