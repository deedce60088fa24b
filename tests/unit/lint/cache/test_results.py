"""Results as JSON and back, with nothing lost."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields

from capturelint.finding import Edit, Effect, Finding, Fix, Span, Step
from capturelint.lint.cache.results import as_json, from_json
from capturelint.lint.result import CheckResult

_FULL = Finding(
    code="CL101",
    name="host-read",
    effects=(Effect.REFUSES, Effect.SLOW),
    message="`.item()` reads",
    path="pkg/m\udcff.ipynb",
    span=Span(1, 2, 3, 4),
    function="pkg.m.f",
    source="x.item()",
    chain=(Step("a.py", 1, "f", 3), Step("b.py", 2, "g")),
    fix=Fix("proven", (Edit(Span(1, 0, 1, 1), "y"),)),
    cell=2,
    if_captured=True,
    refusal="no; why",
)
_RESULT = CheckResult(
    findings=(_FULL, Finding("CL000", "unreadable-file", (), "no", "b.py", Span(1, 0, 1, 1))),
    roots=1,
    captured_functions=2,
    files=3,
    presets=("vllm",),
    errors=("roots: none",),
    warnings=("step: none",),
    step_functions=4,
    baselined=5,
    older=6,
)


def test_every_field_comes_back() -> None:
    for one in (_FULL, _RESULT, _FULL.chain[0]):
        defaults = {field.name: field.default for field in fields(one)}
        same = [name for name, value in defaults.items() if getattr(one, name) == value]
        assert same == [], "each field here must differ from its default, or the test is blind"
        assert MISSING not in {getattr(one, field.name) for field in fields(one)}

    assert from_json(json.loads(json.dumps(as_json(_RESULT)))) == _RESULT
