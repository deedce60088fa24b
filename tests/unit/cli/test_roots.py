"""`roots` as a user meets it, with the engine's answers given by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from capturelint.cli.main import main
from capturelint.config import Config
from capturelint.lint import listing
from capturelint.lint.result import Listing, Reached, RootReport
from capturelint.report.text import NO_ROOTS

_ROOT = RootReport("B.forward", "b.py", 7, "a marker", (Reached("helper", "b.py", 40, ()),))


@pytest.fixture(autouse=True)
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[Path], Config]]:
    """Return what the engine was asked; it knows a root only under `b.py`."""
    asked: list[tuple[list[Path], Config]] = []

    def list_roots(
        paths: Sequence[Path], config: Config, *, progress: Callable[[str], None] | None = None
    ) -> Listing:
        assert progress is None, "there is no terminal here"
        asked.append((list(paths), config))
        return Listing((_ROOT,) if Path("b.py") in paths else ())

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(listing, "list_roots", list_roots)
    Path("b.py").touch()
    return asked


def test_roots_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["roots", "b.py"]) == 0
    out, err = capsys.readouterr()
    assert out == (
        "b.py\n"
        "  7: B.forward: a marker; reaches 1 function\n"
        "1 root in 1 file, 2 captured functions\n"
    )
    assert err == ""


def test_reached_functions_are_listed_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["roots", "b.py", "--reached"]) == 0
    assert "      helper (b.py:40)\n" in capsys.readouterr().out


def test_help_says_that_the_ways_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["roots", "--help"])

    shown = " ".join(capsys.readouterr().out.split())
    assert "functions that each root reaches, each with the calls that lead there" in shown


def test_options_reach_the_engine(seen: list[tuple[list[Path], Config]]) -> None:
    main(["roots", "--exclude", "x", "--preset", "none"])

    assert seen == [([Path()], Config(root=Path.cwd(), exclude=("x",), preset=()))]


def test_json_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["roots", "b.py", "--format", "json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["roots"][0]["function"] == "B.forward"
    assert document["captured_functions"] == 2


@pytest.mark.parametrize(("form", "stream"), [("text", 0), ("json", 1)])
def test_no_root_is_said_loudly(capsys: pytest.CaptureFixture[str], form: str, stream: int) -> None:
    assert main(["roots", ".", "--format", form]) == 0
    assert NO_ROOTS in capsys.readouterr()[stream]


def test_a_missing_path_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["roots", "gone", "b.py"]) == 2
    out, err = capsys.readouterr()
    assert "B.forward" in out
    assert err == "capturelint: no such file or folder: gone\n"


def test_a_pattern_that_matches_nothing_exits_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path.cwd()
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    settings = folder / "pyproject.toml"
    settings.write_text('[tool.capturelint]\nroots = ["a.nope"]\nstep = ["b.nope"]\n')

    assert main(["roots"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"capturelint: {settings}: roots: 'a.nope' matches nothing in the checked files",
        f"capturelint: {settings}: step: 'b.nope' matches nothing in the checked files",
    ]
