"""SARIF: valid by the published schema, and what its readers rely on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from capturelint.finding import Finding, Span
from capturelint.lint.registry import builtin_rules
from capturelint.report import sarif
from tests.unit.report.findings import FIXED, IDLE, IN_CELL, READ, SLOW, UNREAD, result_of

_FOLDER = Path(__file__).parents[3] / "fixtures" / "sarif"
_SCHEMA = json.loads((_FOLDER / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))


def _run(
    *findings: Finding, errors: tuple[str, ...] = (), warnings: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the one run of a log, after it was held against the schema."""
    text = sarif.render(result_of(*findings, errors=errors, warnings=warnings), builtin_rules())
    assert text.isascii()
    log = json.loads(text)
    checker = jsonschema.Draft4Validator.FORMAT_CHECKER
    jsonschema.Draft4Validator(_SCHEMA, format_checker=checker).validate(log)
    assert log["$schema"] == _SCHEMA["id"]
    [run] = log["runs"]
    return dict(run)


def test_the_schema_can_refuse() -> None:
    log = json.loads(sarif.render(result_of(READ), builtin_rules()))
    log["runs"][0]["results"][0]["line"] = 3

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(_SCHEMA).validate(log)


def test_a_finding_has_place_chain_level_and_effects() -> None:
    run = _run(READ)
    [result] = run["results"]
    file = {"uri": "pkg/model.py", "uriBaseId": "%SRCROOT%"}

    assert run["columnKind"] == "unicodeCodePoints"
    assert run["tool"]["driver"]["rules"][result.pop("ruleIndex")]["id"] == "CL101"
    assert len(result.pop("partialFingerprints")["capturelint/v1"]) == 32
    assert result == {
        "ruleId": "CL101",
        "level": "error",
        "message": {"text": "`.item()` reads a tensor"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": file,
                    "region": {"startLine": 12, "startColumn": 13, "endLine": 12, "endColumn": 21},
                },
                "logicalLocations": [
                    {"fullyQualifiedName": "pkg.model.Model.helper", "kind": "function"}
                ],
            }
        ],
        "relatedLocations": [
            {
                "id": 0,
                "physicalLocation": {
                    "artifactLocation": {"uri": "pkg/top.py", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 3},
                },
                "message": {"text": "captured from Top.forward"},
            },
            {
                "id": 1,
                "physicalLocation": {"artifactLocation": file, "region": {"startLine": 12}},
                "message": {"text": "calls Model.helper"},
            },
        ],
        "properties": {
            "effect": ["refuses-capture", "slow"],
            "source": "        n = x.item()",
        },
    }


def test_a_fix_is_handed_on_with_its_grade() -> None:
    [result] = _run(replace(READ, fix=FIXED))["results"]

    assert result["fixes"] == [
        {
            "description": {"text": "proven fix"},
            "artifactChanges": [
                {
                    "artifactLocation": {"uri": "pkg/model.py", "uriBaseId": "%SRCROOT%"},
                    "replacements": [
                        {
                            "deletedRegion": {
                                "startLine": 12,
                                "startColumn": 13,
                                "endLine": 12,
                                "endColumn": 21,
                            },
                            "insertedContent": {"text": "n = x"},
                        }
                    ],
                }
            ],
        }
    ]


def test_every_rule_is_described() -> None:
    described = {rule["id"]: rule for rule in _run()["tool"]["driver"]["rules"]}

    assert set(described) == {entry.code for entry in builtin_rules()} | {"CL000", "CL001", "CL002"}
    assert described["CL101"]["name"] == "host-read"
    assert described["CL101"]["defaultConfiguration"] == {"level": "error"}
    assert described["CL002"]["defaultConfiguration"] == {"level": "warning"}
    for rule in described.values():
        assert rule["help"]["markdown"].startswith(rule["shortDescription"]["text"].split()[0])
    assert described["CL101"]["properties"]["tags"] == ["cuda-graphs", "refuses-capture"]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b/ü.py", "a%20b/%C3%BC.py"),
        ("a:b?#%.py", "a%3Ab%3F%23%25.py"),
        ("a\nb.py", "a%0Ab.py"),
        ("\udce9.py", "%E9.py"),
    ],
)
def test_a_path_is_a_relative_uri(path: str, uri: str) -> None:
    [result] = _run(replace(READ, path=path))["results"]

    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": uri,
        "uriBaseId": "%SRCROOT%",
    }


def test_a_path_outside_the_working_directory_is_absolute(tmp_path: Path) -> None:
    [result] = _run(replace(READ, path=(tmp_path / "a b.py").as_posix()))["results"]

    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": f"{tmp_path.as_uri()}/a%20b.py"}


def test_the_fingerprint_survives_moves_and_spaces_and_tells_equal_lines_apart() -> None:
    moved = replace(READ, span=Span(99, 8, 99, 16), source="    n  =  x.item()")
    prints = [
        result["partialFingerprints"]["capturelint/v1"]
        for result in [*_run(READ, moved)["results"], *_run(moved)["results"]]
    ]

    assert prints[0] == prints[2]
    assert prints[0] != prints[1]


@pytest.mark.parametrize(
    "other",
    [
        replace(READ, code="CL102"),
        replace(READ, function="pkg.model.Model.other"),
        replace(READ, source="m = x.item()"),
    ],
)
def test_code_function_and_line_make_the_fingerprint(other: Finding) -> None:
    one, two = (_run(finding)["results"][0]["partialFingerprints"] for finding in (READ, other))

    assert one != two


def test_a_cell_is_told_in_words_and_has_no_region() -> None:
    [result] = _run(replace(IN_CELL, fix=FIXED))["results"]

    place = {"artifactLocation": {"uri": "nb.ipynb", "uriBaseId": "%SRCROOT%"}}
    assert result["message"] == {"text": "cell 3, line 2: reads"}
    assert result["locations"][0]["physicalLocation"] == place
    assert result["relatedLocations"][0]["physicalLocation"] == place
    assert "fixes" not in result


def test_what_went_wrong_is_a_notification() -> None:
    [invocation] = _run(
        UNREAD, SLOW, IDLE, errors=("roots: `x` matches nothing",), warnings=("step: `y`",)
    )["invocations"]

    place = {
        "physicalLocation": {
            "artifactLocation": {"uri": "x.py", "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2},
        }
    }
    assert invocation == {
        "executionSuccessful": True,
        "toolExecutionNotifications": [
            {"level": "error", "message": {"text": "roots: `x` matches nothing"}},
            {"level": "warning", "message": {"text": "step: `y`"}},
            {
                "level": "warning",
                "message": {"text": "is binary"},
                "descriptor": {"id": "CL000"},
                "locations": [place],
            },
        ],
    }


def test_a_bug_of_ours_makes_the_run_unsuccessful() -> None:
    [invocation] = _run(replace(UNREAD, code="CL001"))["invocations"]

    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["level"] == "error"


def test_properties_tell_what_is_never_captured_and_what_a_change_elsewhere_brought() -> None:
    finding = replace(READ, if_captured=True)

    log = json.loads(sarif.render(result_of(finding), builtin_rules(), [finding]))
    [result] = log["runs"][0]["results"]
    assert result["properties"]["ifCaptured"] and result["properties"]["distant"]
