"""Rules of the user's own: what `check` says where they fail, and when their answers are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.cli.main import main

_RULE = """\
\"\"\"Say something of poke.\"\"\"
from pathlib import Path
import libcst as cst
from capturelint.rule import About, Effect, Rule, Triggers, names
{top}

class Poke(Rule):
    about = About(code="CL991", name="poke", effects=(Effect.SLOW,), since="0.1")
    triggers = Triggers(names=names(["poke"]))

    def visit_Call(self, node: cst.Call) -> None:
        {visit}
"""
_MODEL = """\
from torch import nn

class M(nn.Module):
    def forward(self, x):
        return poke(x)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text('[tool.capturelint]\nrule-folders = ["mine"]\n')
    (tmp_path / "m.py").write_text(_MODEL)
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write(project: Path, *, top: str = "", visit: str = "pass") -> Path:
    path = project / "mine" / "cl991_poke.py"
    path.write_text(_RULE.format(top=top, visit=visit))
    return path


@pytest.mark.parametrize("fault", ["raise SystemExit(0)", "1 / 0", "{}['no']", "None.no"])
@pytest.mark.parametrize(("place", "line"), [("top", 5), ("visit", 12)])
def test_a_rule_that_fails_is_named_in_one_line(
    fault: str, place: str, line: int, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _write(project, **{place: fault})
    code = main(["check", "--no-cache"])
    out, err = capsys.readouterr()

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert str(path) in err
    assert f"line {line}" in err or f":{line}:" in err
    assert any(name in err for name in ("SystemExit", "ZeroDivision", "KeyError", "AttributeError"))


def test_a_rule_whose_triggers_are_none_is_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _write(project)
    path.write_text(path.read_text().replace('Triggers(names=names(["poke"]))', "None"))
    code = main(["check", "--no-cache"])

    assert code == 2
    assert f"{path} needs" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["word.txt", "_inner/word.txt", ".inner/word.json"])
def test_a_file_that_a_rule_reads_is_watched(
    name: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    word = project / "mine" / name
    word.parent.mkdir(exist_ok=True)
    top = f"WORD = (Path(__file__).parent / {name!r}).read_text()"
    _write(project, top=top, visit="self.report(node, WORD)")
    said = []
    for text in ("first", "other"):
        word.write_text(text)
        main(["check", "--format", "concise"])
        said.append(capsys.readouterr().out)

    assert "first" in said[0]
    assert "other" in said[1]


def test_what_cannot_be_watched_is_not_kept(project: Path) -> None:
    (project / "elsewhere").mkdir()
    (project / "mine" / "linked").symlink_to(project / "elsewhere")
    _write(project)
    main(["check"])

    assert not (project / ".capturelint_cache").exists()
