"""Which rule is named for a line that a run found to blame."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from capturelint.finding import Effect
from capturelint.lint.registry import builtin_rules
from capturelint.report.explain import advice_of, explained
from capturelint.verdict import Certainty, Culprit, Evidence, Frozen, Hazard, Place, Report, Verdict

MODEL = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.max().item()
        if x.any():
            x = x + 1
        y = x[x > 0].sum().item()
        return torch.tensor(
            [n, y],
            device=x.device,
        )
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(MODEL, encoding="utf-8")
    return path


def code_of(place: Place | None, *, code: str = "", effect: Effect = Effect.REFUSES) -> str:
    culprit = Culprit("", "Model", place, "op", effect, Certainty.SHOWN, "m", code)
    report = Report("c", "simulated", Verdict.REFUSES, culprits=(culprit,))
    return explained(report, builtin_rules()).report.culprits[0].code


@pytest.mark.parametrize(
    ("line", "code", "wanted"),
    [
        (6, "", "CL101"),
        (7, "", "CL401"),
        # The check sees the branch; the run only that a value was read.
        (7, "CL101", "CL401"),
        # Two rules report the line: the run decides.
        (9, "CL101", "CL101"),
        (9, "CL302", "CL302"),
        (9, "CL701", "CL701"),
        # A call of several lines, of which Python names an inner one.
        (11, "", "CL201"),
        (8, "", ""),
        (8, "CL106", "CL106"),
        (8, "CL999", ""),
        (0, "", ""),
    ],
)
def test_the_rule_that_reports_the_line_is_named(
    model: Path, line: int, code: str, wanted: str
) -> None:
    assert code_of(Place(str(model), line), code=code) == wanted


def test_of_two_rules_the_first_is_named_when_the_run_names_none(model: Path) -> None:
    assert code_of(Place(str(model), 9)) in {"CL101", "CL302"}


def test_a_rule_about_another_effect_does_not_explain(model: Path) -> None:
    assert code_of(Place(str(model), 6), effect=Effect.STALE) == ""


def test_a_file_that_cannot_be_read_leaves_the_code_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "binary.py").write_bytes(b"\0")

    assert code_of(Place(str(tmp_path / "gone.py"), 3), code="CL101") == "CL101"
    assert code_of(Place(str(tmp_path / "binary.py"), 1), code="CL101") == "CL101"
    assert code_of(Place("", 0), code="CL101") == "CL101"
    assert code_of(None, code="CL101") == "CL101"


def test_a_file_is_looked_at_alone(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").touch()
    (tmp_path / "peak.py").write_text("def peak(x):\n    return x.max()\n", encoding="utf-8")
    text = MODEL.replace("import torch\n", "import torch\nfrom .peak import peak\n")
    model = tmp_path / "model.py"
    model.write_text(text.replace("x.any()", "peak(x)"), encoding="utf-8")

    # With the other file the check would know that `peak` returns a tensor, at a cost that grows
    # with the package.
    assert code_of(Place(str(model), 8), code="CL101") == "CL101"
    assert code_of(Place(str(model), 7)) == "CL101"


def test_hazards_are_explained_too_and_all_else_is_kept(model: Path) -> None:
    hazard = Hazard(Place(str(model), 7), "", "aten::is_nonzero", Effect.REFUSES, "m")
    report = Report("c", "simulated", Verdict.REFUSES, hazards=(hazard,), notes=("n",))

    assert explained(report, builtin_rules()).report == replace(
        report, hazards=(replace(hazard, code="CL401"),)
    )


def test_advice_is_the_first_sentence_of_what_to_do_instead() -> None:
    page = (
        "What.\n\n## What to do instead\n\nKeep it: `x.y`\nor `z`. `clamp` is better. More.\n\nX."
    )

    assert advice_of(page) == "Keep it: `x.y` or `z`."
    assert advice_of("## What to do instead\n\nNo end") == "No end"
    assert advice_of("Nothing to do.") == ""


def test_every_rule_has_advice() -> None:
    advice = explained(Report("c", "simulated", Verdict.EQUAL), builtin_rules()).advice

    assert set(advice) == {entry.code for entry in builtin_rules()}
    assert [code for code, text in advice.items() if not text.endswith(".")] == []


def seen_code(change: str, *, name: str, before: str = "1", is_caused_here: bool = True) -> str:
    line = Place("m.py", 3)
    cause = line if is_caused_here else Place("m.py", 9)
    frozen = Frozen(Place("m.py", 4), "aten.cat.default", before, "2", cause, name)
    evidence = Evidence(frozen=(frozen,), changes=(change,))
    culprit = Culprit("", "M", line, "", Effect.STALE, Certainty.SHOWN, "m", evidence=evidence)
    report = Report("c", "simulated", Verdict.STALE, culprits=(culprit,))
    return explained(report, builtin_rules()).report.culprits[0].code


def test_what_a_run_saw_change_tells_the_rule_of_its_line() -> None:
    assert seen_code("a.past[0]: x -> y (rebound)", name="self.past[0]") == "CL601"
    assert seen_code("seen: 1 items -> 2 items (grew)", name="self.seen") == "CL505"
    assert seen_code("step: 1 -> 2 (number)", name="self.step") == "CL501"


def test_a_change_elsewhere_or_of_another_kind_tells_no_rule() -> None:
    assert seen_code("past: x -> y (rebound)", name="self.past", is_caused_here=False) == ""
    assert seen_code("last: x -> y (rebound)", name="self.past") == ""
    assert seen_code("step: x -> y (rebound)", name="global step") == ""
    assert seen_code("flag: True -> False (number)", name="self.flag", before="True") == ""


def test_an_optimizer_that_refuses_capture_is_explained() -> None:
    said = "Attempting CUDA graph capture of step() for Adam but param_groups' capturable is False."
    culprit = Culprit("", "f", Place("m.py", 3), "", Effect.REFUSES, Certainty.SHOWN, said)
    report = Report("c", "simulated", Verdict.REFUSES, culprits=(culprit,))
    result = explained(report, builtin_rules())

    assert result.report.culprits[0].code == "CL802"
    assert result.advice["CL802"].startswith("Give the optimizer `capturable=True`")
