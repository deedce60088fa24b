"""What bisect found, for programs, against the schema."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from capturelint.report import bisect_json
from capturelint.verdict import Certainty, Evidence, Place, Report, Verdict
from tests.unit.report.reports import NOT_PERMITTED, counting, failing, passing

SCHEMA = json.loads(Path(__file__).with_name("bisect_schema.json").read_text(encoding="utf-8"))


def document(report: Report) -> Any:
    """Return the parsed report, after a check against the schema."""
    text = bisect_json.render(report)
    assert "\n" not in text
    parsed = json.loads(text, parse_constant=pytest.fail)
    jsonschema.validate(parsed, SCHEMA)
    return parsed


def test_a_pass_byte_by_byte() -> None:
    assert bisect_json.render(passing()) == (
        '{"version":1,"case":"case.py:make","backend":"simulated","verdict":"replays-equal",'
        '"modules":[{"path":"<root>","class":"Model","verdict":"replays-equal","calls":1,"why":""}],'
        '"culprits":[],"hazards":[],"findings":[],"notes":[],"environment":{"torch":"2.13.0","device":"none"},'
        '"timings":{"attempts":1,"forwards":12,"replays":6,"total":1.25}}'
    )


def test_a_culprit_holds_all_that_is_known() -> None:
    culprits = document(failing())["culprits"]

    assert culprits[2] == {
        "module": "counter",
        "class": "Counter",
        "path": "model.py",
        "line": 9,
        "source": "return x * self.step",
        "operation": "aten::mul",
        "effect": "stale-on-replay",
        "certainty": "shown",
        "code": "",
        "message": "the number 3 is part of the graph",
        "evidence": {
            "exception": "",
            "replay": 2,
            "output": "[0].logits",
            "difference": 0.03125,
            "tolerance": 1e-05,
            "dtype": "float32",
            "frozen": [
                {
                    "path": "model.py",
                    "line": 9,
                    "source": "return x * self.step",
                    "operation": "aten::mul",
                    "name": "self.step",
                    "before": "3",
                    "after": "4",
                    "cause": {"path": "model.py", "line": 8, "source": "self.step += 1"},
                }
            ],
            "changes": [],
            "together": [],
            "fills": [],
            "rows": "",
            "beginning": "",
            "counts": "",
        },
    }
    assert culprits[0]["message"] == f"{NOT_PERMITTED}\nCompile with `TORCH_USE_CUDA_DSA`"


def test_a_hazard_tells_its_module_and_how_often() -> None:
    assert document(failing())["hazards"] == [
        {
            "path": "model.py",
            "line": 57,
            "source": "n = x.max().item()",
            "module": "layers.0.attention",
            "operation": "aten::_local_scalar_dense",
            "effect": "refuses-capture",
            "code": "",
            "message": NOT_PERMITTED,
            "calls": 2,
        },
        {
            "path": "model.py",
            "line": 70,
            "source": "if x.any():",
            "module": "<root>",
            "operation": "aten::is_nonzero",
            "effect": "refuses-capture",
            "code": "CL401",
            "message": "m",
            "calls": 1,
        },
    ]


@pytest.mark.parametrize("place", [None, Place("", 0)])
def test_without_a_place_path_and_line_are_null(place: Place | None) -> None:
    culprit = replace(counting(""), place=place, certainty=Certainty.MODULE_ONLY)

    (shown,) = document(replace(failing(), culprits=(culprit,)))["culprits"]

    assert (shown["module"], shown["path"], shown["line"], shown["source"]) == (
        "<root>",
        None,
        None,
        "",
    )


def test_a_file_outside_the_working_directory_is_absolute(tmp_path: Path) -> None:
    culprit = replace(counting("a"), place=Place(str(tmp_path / "far.py"), 0))

    (shown,) = document(replace(failing(), culprits=(culprit,)))["culprits"]

    assert (shown["path"], shown["line"]) == ((tmp_path / "far.py").as_posix(), None)


@pytest.mark.parametrize(("value", "shown"), [(math.inf, "inf"), (math.nan, "nan"), (None, None)])
def test_numbers_that_json_does_not_know_are_text(value: float | None, shown: str | None) -> None:
    evidence = Evidence(difference=value, together=("", "a"))
    culprit = replace(counting("a"), evidence=evidence)

    (told,) = document(replace(failing(), culprits=(culprit,)))["culprits"]

    assert told["evidence"]["difference"] == shown
    assert told["evidence"]["together"] == ["<root>", "a"]


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_is_in_the_schema(verdict: Verdict) -> None:
    assert document(replace(passing(), verdict=verdict))["verdict"] == verdict.value
