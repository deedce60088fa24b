"""Changes after which only a little is checked again, and of which others may see more than that."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.unit.lint.cache.edited import Project

_MODEL = """\
    import torch
    from torch import nn
    from pkg.ops import read


    class Model(nn.Module):
        # capturelint: captured
        def forward(self, x: torch.Tensor):
            read(x)
            return x
    """
_OPS = """\
    import torch


    def read(x):
        return x.item()
    """
_FILES: Mapping[str, str] = {
    "pkg/__init__.py": "",
    "pkg/model.py": _MODEL,
    "pkg/ops.py": _OPS,
}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("read(x)", "try:\n            pass\n        except ValueError:\n            read(x)"),
        ("read(x)", "try:\n            read(x)\n        except ValueError:\n            pass"),
        ("pass", "map(read, [x])"),
        ("map(read, [x])", "pass"),
        ("map(read, [x])", "map(read, [x])  # of one"),
    ],
)
def test_what_is_called_under_capture_counts(tmp_path: Path, before: str, after: str) -> None:
    project = Project(tmp_path, {**_FILES, "pkg/model.py": _MODEL.replace("read(x)", before)})
    for text, other in ((before, after), (after, before)):
        project.cached()
        project.edit("pkg/model.py", f"        {text}\n", f"        {other}\n")

        assert project.cached()[0] == project.plain()


def test_a_way_that_begins_in_a_notebook_is_told_by_its_cell(tmp_path: Path) -> None:
    root = "# capturelint: captured\ndef root(x: torch.Tensor):\n    read(x)\n"
    cells = ["import torch\nfrom ops import read\n", root]
    rows = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": cell, "execution_count": 1}
        for cell in cells
    ]
    notebook = {"cells": rows, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    project = Project(tmp_path, {"main.ipynb": json.dumps(notebook), "ops.py": _OPS})
    project.cached()
    project.edit("ops.py", "    return", "    # A remark.\n    return")

    assert project.plain().findings[0].chain[0].cell == 2
    assert project.cached() == (project.plain(), True)


def test_an_accepting_comment_counts_where_there_was_nothing_to_accept_at_first(
    tmp_path: Path,
) -> None:
    files = {
        **_FILES,
        "pkg/model.py": _MODEL.replace("        # capturelint: captured\n", ""),
        "pkg/ops.py": "def read(x): return x + 1\n",
    }
    project = Project(tmp_path, files, roots=("pkg.model.Model.forward",), preset=("vllm",))
    project.cached()
    project.edit("pkg/ops.py", "return", "x.item(); return")
    found, is_kept = project.cached()
    project.edit("pkg/ops.py", "def read", "# gpu-sync-ok\ndef read")

    assert is_kept
    assert [finding.code for finding in found.findings] == ["CL101"]
    assert project.cached() == (project.plain(), True)
    assert not project.plain().findings


@pytest.mark.parametrize("held", [_OPS.replace("x.item()", "x.max()"), None])
def test_what_a_file_held_for_a_moment_is_not_kept(tmp_path: Path, held: str | None) -> None:
    project = Project(tmp_path, _FILES)
    path = project.folder / "pkg" / "ops.py"
    text = path.read_text()

    def change(step: str) -> None:
        if step.startswith("following"):
            path.unlink() if held is None else path.write_text(textwrap.dedent(held))

    in_between, _ = project.cached(change)
    path.write_text(text)

    assert not in_between.findings
    assert project.cached() == (project.plain(), False)
    assert project.plain().findings
