"""Findings made by hand, for tests of what is printed of them."""

from __future__ import annotations

from capturelint.finding import Edit, Effect, Finding, Fix, Span, Step
from capturelint.lint.result import CheckResult

READ = Finding(
    "CL101",
    "host-read",
    (Effect.REFUSES, Effect.SLOW),
    "`.item()` reads a tensor",
    "pkg/model.py",
    Span(12, 12, 12, 20),
    function="pkg.model.Model.helper",
    source="        n = x.item()",
    chain=(Step("pkg/top.py", 3, "Top.forward"), Step("pkg/model.py", 12, "Model.helper")),
)
SLOW = Finding(
    "CL701",
    "sync-call",
    (Effect.SLOW,),
    "waits",
    "a b.py",
    Span(3, 0, 5, 1),
    function="a b.run",
    source="wait(",
)
IN_CELL = Finding(
    "CL101",
    "host-read",
    (Effect.REFUSES,),
    "reads",
    "nb.ipynb",
    Span(2, 4, 2, 12),
    function="nb.step",
    source="    x.item()",
    chain=(Step("nb.ipynb", 2, "step", 3),),
    cell=3,
)
IDLE = Finding("CL002", "idle-comment", (), "accepts nothing", "x.py", Span(1, 0, 1, 4))
UNREAD = Finding("CL000", "unreadable-file", (), "is binary", "x.py", Span(1, 0, 1, 1))
FIXED = Fix("proven", (Edit(Span(12, 12, 12, 20), "n = x"),))


def result_of(
    *findings: Finding, errors: tuple[str, ...] = (), warnings: tuple[str, ...] = ()
) -> CheckResult:
    return CheckResult(
        findings=findings,
        roots=1,
        captured_functions=2,
        files=3,
        presets=(),
        errors=errors,
        warnings=warnings,
    )
