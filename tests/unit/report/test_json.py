"""The report for programs, byte by byte."""

from __future__ import annotations

import json as stdlib_json

from capturelint.finding import Edit, Effect, Finding, Fix, Span, Step
from capturelint.lint.fingerprint import fingerprints
from capturelint.lint.result import CheckResult
from capturelint.report import json


def _result(
    *findings: Finding, errors: tuple[str, ...] = (), warnings: tuple[str, ...] = ()
) -> CheckResult:
    return CheckResult(
        findings=findings,
        roots=1,
        captured_functions=2,
        files=3,
        presets=("vllm",),
        errors=errors,
        warnings=warnings,
    )


def test_a_finding_has_every_key_in_order_and_columns_from_one() -> None:
    finding = Finding(
        "CL101",
        "host-read",
        (Effect.REFUSES, Effect.SLOW),
        "reads `é`",
        "pkg/model.py",
        Span(12, 8, 13, 1),
        function="Model.helper",
        source="        n = x.item()",
        chain=(Step("pkg/top.py", 3, "Top.forward"),),
        fix=Fix("proven", (Edit(Span(12, 8, 12, 20), "n = x"),)),
    )

    [fingerprint] = fingerprints([finding])
    assert json.render(_result(finding)).replace(fingerprint, "FINGERPRINT") == (
        '{"version":1,"findings":[{"code":"CL101","name":"host-read",'
        '"effect":["refuses-capture","slow"],"message":"reads `\\u00e9`","path":"pkg/model.py",'
        '"line":12,"column":9,"end_line":13,"end_column":2,"cell":null,"function":"Model.helper","source":"        n = x.item()",'
        '"fingerprint":"FINGERPRINT","chain":[{"path":"pkg/top.py","line":3,"function":"Top.forward","cell":null}],'
        '"if_captured":false,"distant":false,"fix":{"grade":"proven","edits":[{"line":12,"column":9,"end_line":12,"end_column":21,'
        '"text":"n = x"}]},"refusal":null}],"roots":1,"captured_functions":2,"step_functions":0,"files":3,"errors":[],"warnings":[],"baselined":0,"older":0}'
    )


def test_what_a_finding_lacks_is_null_or_empty() -> None:
    finding = Finding("CL000", "unreadable-file", (), "is binary", "x.py", Span(1, 0, 1, 1))

    document = stdlib_json.loads(json.render(_result(finding)))

    assert document["findings"] == [
        {
            "code": "CL000",
            "name": "unreadable-file",
            "effect": [],
            "message": "is binary",
            "path": "x.py",
            "line": 1,
            "column": 1,
            "end_line": 1,
            "end_column": 2,
            "cell": None,
            "function": "",
            "source": "",
            "fingerprint": fingerprints([finding])[0],
            "chain": [],
            "if_captured": False,
            "distant": False,
            "fix": None,
            "refusal": None,
        }
    ]


def test_no_finding_is_an_empty_list_and_errors_are_kept() -> None:
    assert json.render(_result(errors=("one",), warnings=("two",))) == (
        '{"version":1,"findings":[],"roots":1,"captured_functions":2,"step_functions":0,"files":3,"errors":["one"],"warnings":["two"],"baselined":0,"older":0}'
    )


def test_a_path_that_is_not_text_still_gives_ascii() -> None:
    finding = Finding("CL000", "unreadable-file", (), "is binary", "\udce9.py", Span(1, 0, 1, 1))

    report = json.render(_result(finding))

    assert report.isascii()
    assert stdlib_json.loads(report)["findings"][0]["path"] == "\udce9.py"


def test_what_is_never_captured_and_what_a_change_elsewhere_brought_is_told() -> None:
    finding = Finding("CL101", "n", (), "m", "a.py", Span(1, 0, 1, 1), if_captured=True)

    [shown] = stdlib_json.loads(json.render(_result(finding), distant=[finding]))["findings"]
    assert (shown["if_captured"], shown["distant"]) == (True, True)
