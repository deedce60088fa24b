"""Where findings are now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from capturelint.execution import Asked
from capturelint.finding import Finding, Span
from capturelint.report.standing.located import located

SOURCE = """\
class Model:
    def forward(self, x):
        ü = x.item()
        return ü

    def other(self, x):
        return x.item() + 1
"""
FOUND = Finding(
    "CL101", "host-read", (), "reads", "pkg/m.py", Span(3, 12, 3, 20), "pkg.m.Model.forward",
    "        ü = x.item()",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "out" / "deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)


def now(text: str, finding: Finding = FOUND, folder: Path = Path()) -> tuple[int, int] | str:
    Path("pkg/m.py").write_text(text, encoding="utf-8", newline="")
    [found] = located([finding], [folder])
    if found.asked is None:
        return found.problem
    assert found.asked.path == str(Path("pkg/m.py").resolve())
    return found.finding.span.line, found.finding.span.column


def test_columns_become_bytes_and_paths_real() -> None:
    assert now(SOURCE) == (3, 12)

    [found] = located([FOUND], [])
    assert found.asked == Asked(str(Path("pkg/m.py").resolve()), 3, 13, 3, 21)


def test_a_line_that_moved_in_its_function_is_found() -> None:
    assert now("import torch\n\n" + SOURCE) == (5, 12)
    assert now(SOURCE.replace("    ", "  ")) == (3, 8)
    assert now("import torch\n\n" + SOURCE, replace(FOUND, function="")) == (5, 12)


def test_lines_end_where_python_ends_them() -> None:
    assert now(f"a = 1\r{SOURCE}") == (4, 12)


@pytest.mark.parametrize(
    "text",
    [
        SOURCE.replace("x.item()\n", "x.item() # now on the host\n", 1),
        # It is in another function now, or there are two of it.
        SOURCE.replace("forward", "backward"),
        "import torch\n" + SOURCE.replace("        ü = x.item()\n", "        ü = x.item()\n" * 2),
        "def broken(:\n" + SOURCE,
        "",
    ],
)
def test_of_a_line_that_changed_nothing_is_told(text: str) -> None:
    assert now(text) == "the file has changed since: check it again"


@pytest.mark.parametrize("folder", ["out", "out/deep", "pkg"])
def test_paths_may_be_relative_to_a_folder_above_the_file(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("pkg/m.py").write_text(SOURCE, encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)

    [found] = located([FOUND], [tmp_path / folder])
    assert found.asked is not None
    assert found.finding.path == (tmp_path / "pkg/m.py").as_posix()


def test_missing_files_and_notebooks_are_told() -> None:
    odd = [replace(FOUND, path=path) for path in ("no.py", "a\0b.py", "", "x" * 5000, "\udce9.py")]
    [*missing, cell] = located([*odd, replace(FOUND, cell=3)], [])

    assert all(one.problem.startswith("there is no such file") for one in missing)
    assert cell.problem == "it is in a notebook, which a run does not watch"
