"""`bisect` as a user meets it, with the answers of the run given by hand."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from capturelint.cli.main import main
from capturelint.debug import api
from capturelint.debug.cases import requirements
from capturelint.debug.settings import Settings
from capturelint.errors import CapturelintError
from capturelint.finding import Effect
from capturelint.verdict import Certainty, Culprit, ModuleVerdict, Place, Report, Verdict

_MODEL = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x.max().item()


def make() -> object:
    return Model()


def inputs(seed: int) -> object: ...
"""


def _found(path: Path) -> Report:
    source = "        return x * x.max().item()"
    culprit = Culprit(
        "", "Model", Place(str(path), 6, "Model.forward", source), "aten::item", Effect.REFUSES,
        Certainty.SHOWN, "operation not permitted",
    )  # fmt: skip
    return Report(
        "m.py:make",
        "simulated",
        Verdict.REFUSES,
        (ModuleVerdict("", "Model", Verdict.REFUSES, 1),),
        (culprit,),
        timings={"total": 0.5},
    )


@dataclass
class _Run:
    """Answers with `report` and remembers what it was asked."""

    report: Report
    asked: dict[str, object] = field(default_factory=dict)

    def bisect(
        self, case: str, *, progress: Callable[[str], object] | None = None, **rest: object
    ) -> Report:
        if progress is not None:
            progress("judging layers.3")
        self.asked = {"case": case, **rest}
        return self.report


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Run:
    """Return a run of our own, in a working directory that holds `m.py`. No torch is needed."""
    path = tmp_path / "m.py"
    path.write_text(_MODEL, encoding="utf-8")
    ours = _Run(_found(path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(api, "bisect", ours.bisect)
    monkeypatch.setattr(requirements, "find_spec", lambda _: object())
    return ours


@pytest.mark.usefixtures("run")
def test_a_culprit_is_shown_with_its_rule_and_exits_with_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = main(["bisect", "m.py:make"])

    out, err = capsys.readouterr()
    assert code == 1
    assert (
        out
        == """\
refuses-capture (simulated): m.py:make: capturing it raises an error

<root> (Model): refuses-capture at m.py:6

1. m.py:6: refuses-capture
  return x * x.max().item()
  module: <root> (Model)
  operation: aten::item
  CUDA would say: operation not permitted
  how sure: seen: captured alone, the module raises at this line
  rule: `capturelint rule CL101`
  next: Keep the value on the device: `torch.where` for a choice, `clamp` for a bound, a 0-d tensor\
 for a scale, `torch.sqrt` for `math.sqrt`.

simulated: no GPU was used. A pass is no proof, and says nothing about custom kernels\
 (CUDA, C++ or Triton).

1 line to blame in 1 module, 1 module judged, 0.5 s, backend simulated
"""
    )
    assert err == ""


@pytest.mark.parametrize(
    ("verdict", "code", "code_with_exit_zero"),
    [
        (Verdict.EQUAL, 0, 0),
        (Verdict.NONDETERMINISTIC, 0, 0),
        (Verdict.STALE, 1, 0),
        (Verdict.UNDECIDED, 4, 4),
    ],
)
def test_the_exit_code_follows_the_verdict(
    run: _Run, verdict: Verdict, code: int, code_with_exit_zero: int
) -> None:
    run.report = replace(run.report, verdict=verdict)

    assert main(["bisect", "m.py:make"]) == code
    assert main(["bisect", "m.py:make", "--exit-zero"]) == code_with_exit_zero


def test_all_options_reach_the_run(run: _Run) -> None:
    main(
        "bisect m.py:make --inputs m.py:inputs --call step --resume --first --backend simulated"
        " --seed 3 --skip vision.*".split()
    )

    chosen = Settings(backend="simulated", first=True, seed=3, skip=("vision.*",))
    assert run.asked == {
        "case": "m.py:make",
        "inputs": "m.py:inputs",
        "call": "step",
        "resume": True,
        **{name: getattr(chosen, name) for name in Settings.__slots__},
    }


@pytest.mark.usefixtures("run")
def test_json_is_one_line_with_the_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bisect", "m.py:make", "--format", "json"]) == 1

    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert json.loads(out)["culprits"][0]["code"] == "CL101"
    assert err == ""


@pytest.mark.usefixtures("run")
def test_concise_is_for_editors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bisect", "m.py:make", "--format", "concise"]) == 1
    assert capsys.readouterr().out.splitlines()[0] == (
        "m.py:6: refuses-capture <root> aten::item [refuses-capture] operation not permitted"
    )


@pytest.mark.usefixtures("run")
def test_output_goes_to_the_file_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bisect", "m.py:make", "--output", "report.txt"]) == 1
    assert capsys.readouterr() == ("", "")
    assert Path("report.txt").read_text(encoding="utf-8").startswith("refuses-capture (simulated)")


def test_the_time_is_that_of_the_whole_run_where_the_report_has_none(
    run: _Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run.report = replace(run.report, timings={})

    main(["bisect", "m.py:make", "--format", "json"])

    assert json.loads(capsys.readouterr().out)["timings"]["total"] >= 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ["--format", "jsn"],
            "`--format` is 'jsn'; it must be one of text, concise, json, sarif; did you mean json?",
        ),
        (["--replays", "none"], "`--replays` is 'none'; it must be a whole number, 1 or more"),
        (["--output", "gone/x"], "cannot write gone/x: there is no folder gone; create it first"),
    ],
)
def test_a_mistake_is_one_line_before_the_work(
    run: _Run, capsys: pytest.CaptureFixture[str], words: list[str], complaint: str
) -> None:
    assert main(["bisect", "m.py:make", *words]) == 2
    assert capsys.readouterr() == ("", f"capturelint: {complaint}\n")
    assert run.asked == {}


def test_a_mistake_in_the_settings_file_is_told_before_the_work(
    run: _Run, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("pyproject.toml").write_text("[tool.capturelint]\nrots = []\n", encoding="utf-8")

    assert main(["bisect", "m.py:make"]) == 2
    assert "no key `rots`" in capsys.readouterr().err
    assert run.asked == {}


def test_without_torch_it_says_what_to_install(
    run: _Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requirements, "find_spec", lambda _: None)

    assert main(["bisect", "m.py:make"]) == 2
    assert capsys.readouterr() == (
        "",
        "capturelint: bisect needs torch; pip install 'capturelint[dynamic]'\n",
    )
    assert run.asked == {}


@pytest.mark.usefixtures("run")
def test_what_is_wrong_with_the_case_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> Report:
        raise CapturelintError("make raised ValueError: no weights at m.py:3")

    monkeypatch.setattr(api, "bisect", fails)

    assert main(["bisect", "m.py:make"]) == 2
    assert capsys.readouterr().err == "capturelint: make raised ValueError: no weights at m.py:3\n"


@pytest.mark.usefixtures("run")
def test_an_interrupt_is_one_line_and_130(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> Report:
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "bisect", interrupted)

    assert main(["bisect", "m.py:make"]) == 130
    assert capsys.readouterr() == ("", "capturelint: interrupted\n")


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("run")
def test_a_terminal_gets_a_tree_and_colours_unless_they_are_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "50")
    shown = []
    for words in ([], ["--no-color"]):
        stream = _Terminal()
        monkeypatch.setattr(sys, "stdout", stream)
        main(["bisect", "m.py:make", *words])
        shown.append(stream.getvalue())

    assert shown[0].startswith("\x1b[1;31mrefuses-capture (simulated)\x1b[0m")
    assert "\x1b" not in shown[1]
    assert max(map(len, shown[1].splitlines())) <= 50


def test_the_parent_never_imports_torch(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(_MODEL, encoding="utf-8")
    program = (
        "import sys\n"
        "from capturelint.debug import api; from capturelint.debug.cases import requirements\n"
        "from capturelint.verdict import Report, Verdict\n"
        "requirements.find_spec = lambda _: object()\n"
        "api.bisect = lambda *_, **__: Report('c', 'simulated', Verdict.EQUAL)\n"
        "from capturelint.cli.main import main\n"
        "code = main(['bisect', 'm.py:make'])\n"
        "print(code, 'torch' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )

    assert done.stdout.splitlines()[-1] == "0 False"
