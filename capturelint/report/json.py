"""Findings as JSON, one object for the whole run; columns count from 1."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from capturelint.finding import Finding, Fix, Span, Step
from capturelint.lint.fingerprint import fingerprints
from capturelint.report import statistics

if TYPE_CHECKING:
    from capturelint.lint.result import CheckResult

_VERSION = 1


def render(result: CheckResult, *, counts: bool = False, distant: Collection[Finding] = ()) -> str:
    """Return the result as one line of ASCII, keys in a fixed order. `counts`: statistics too.

    `distant`: findings that a change elsewhere brought.
    """
    known = zip(result.findings, fingerprints(result.findings), strict=True)
    return dumped(
        {
            "version": _VERSION,
            "findings": [_finding(one, mark, is_distant=one in distant) for one, mark in known],
            "roots": result.roots,
            "captured_functions": result.captured_functions,
            "step_functions": result.step_functions,
            "files": result.files,
            "errors": list(result.errors),
            "warnings": list(result.warnings),
            "baselined": result.baselined,
            "older": result.older,
            **({"statistics": statistics.document(result)} if counts else {}),
        }
    )


def dumped(document: dict[str, object]) -> str:
    """Return a document as one line of ASCII, which passes through any pipe or log."""
    return json.dumps(document, separators=(",", ":"))


def steps(chain: Iterable[Step]) -> list[dict[str, object]]:
    """Return a chain from a root as a list of objects."""
    return [
        {"path": step.path, "line": step.line, "function": step.function, "cell": step.cell}
        for step in chain
    ]


def place(span: Span) -> dict[str, object]:
    """Return the four numbers of a place, columns from 1."""
    return {
        "line": span.line,
        "column": span.column + 1,
        "end_line": span.end_line,
        "end_column": span.end_column + 1,
    }


def _finding(finding: Finding, fingerprint: str, *, is_distant: bool) -> dict[str, object]:
    return {
        "code": finding.code,
        "name": finding.name,
        "effect": [effect.value for effect in finding.effects],
        "message": finding.message,
        "path": finding.path,
        **place(finding.span),
        "cell": finding.cell,
        "function": finding.function,
        "source": finding.source,
        "fingerprint": fingerprint,
        "chain": steps(finding.chain),
        "if_captured": finding.if_captured,
        "distant": is_distant,
        "fix": None if finding.fix is None else _fix(finding.fix),
        "refusal": finding.refusal or None,
    }


def _fix(fix: Fix) -> dict[str, object]:
    edits = [{**place(edit.span), "text": edit.text} for edit in fix.edits]
    return {"grade": fix.grade, "edits": edits}
