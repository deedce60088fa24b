"""Findings in the Static Analysis Results Interchange Format, SARIF 2.1.0."""

# The standard: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from capturelint import __version__
from capturelint.finding import Edit, Finding, Fix, Span, Step
from capturelint.lint.codes import OWN
from capturelint.lint.fingerprint import fingerprints
from capturelint.report.json import dumped
from capturelint.report.page import Topic
from capturelint.report.sarif_rules import descriptor
from capturelint.report.severity import is_error
from capturelint.report.standing.stand import Stand, Standing
from capturelint.verdict import ROOT

if TYPE_CHECKING:
    from capturelint.lint.registry import RuleEntry
    from capturelint.lint.result import CheckResult

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_HERE = "%SRCROOT%"
_UNREAD = "CL000"
_FAILED = "CL001"


def render(
    result: CheckResult,
    rules: Sequence[RuleEntry],
    distant: Collection[Finding] = (),
    stands: Sequence[Stand] = (),
) -> str:
    """Return a log of one run as one line of ASCII. `rules`: all that took part.

    `distant`: findings that a change elsewhere brought. `stands`: how all findings stand after a
    run, in their order, or none of them; those that it refuted are suppressed.
    """
    topics: list[Topic] = sorted([*OWN, *rules], key=lambda topic: topic.code)
    indexes = {topic.code: index for index, topic in enumerate(topics)}
    known = fingerprints(result.findings)
    results = [
        _result(finding, indexes.get(finding.code), fingerprint, is_distant=finding in distant)
        for finding, fingerprint in zip(result.findings, known, strict=True)
    ]
    run = {
        "tool": {
            "driver": {
                "name": "capturelint",
                "semanticVersion": __version__,
                "rules": [descriptor(topic) for topic in topics],
            }
        },
        "invocations": [_invocation(result)],
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_HERE: {"description": {"text": "The working directory."}}},
        "results": results,
    }
    for shown, stand in zip(results, stands, strict=bool(stands)):
        shown["properties"] = {**shown["properties"], **_run_properties(stand)}
        shown["suppressions"] = _suppressions(stand)
    return dumped({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _invocation(result: CheckResult) -> dict[str, object]:
    """Return how the run went: a file that could not be read is told, a bug of ours fails it."""
    told = [_notification(error, "error") for error in result.errors]
    told += [_notification(warning, "warning") for warning in result.warnings]
    for finding in result.findings:
        if finding.code in (_UNREAD, _FAILED):
            level = "error" if finding.code == _FAILED else "warning"
            descriptor = {"descriptor": {"id": finding.code}}
            place = {"locations": [_location(finding.path, finding.span, finding.cell)]}
            told.append({**_notification(finding.message, level), **descriptor, **place})
    has_failed = any(finding.code == _FAILED for finding in result.findings)
    return {"executionSuccessful": not has_failed, "toolExecutionNotifications": told}


def _notification(text: str, level: str) -> dict[str, object]:
    return {"level": level, "message": {"text": text}}


def _result(
    finding: Finding, rule_index: int | None, fingerprint: str, *, is_distant: bool
) -> dict[str, Any]:
    text = finding.message
    if finding.cell is not None:
        text = f"cell {finding.cell}, line {finding.span.line}: {text}"
    location = _location(finding.path, finding.span, finding.cell)
    if finding.function:
        logical = {"fullyQualifiedName": finding.function, "kind": "function"}
        location["logicalLocations"] = [logical]
    return {
        "ruleId": finding.code,
        # Read from a file, it may be of a rule that is not loaded now.
        **({} if rule_index is None else {"ruleIndex": rule_index}),
        "level": "error" if is_error(finding) else "warning",
        "message": {"text": text},
        "locations": [location],
        "relatedLocations": list(_chain(finding.chain)),
        "partialFingerprints": {"capturelint/v1": fingerprint},
        "properties": _properties(finding, is_distant=is_distant),
        **_fixes(finding),
    }


def _properties(finding: Finding, *, is_distant: bool) -> dict[str, object]:
    return {
        "effect": [effect.value for effect in finding.effects],
        "source": finding.source,
        **({"ifCaptured": True} if finding.if_captured else {}),
        **({"distant": True} if is_distant else {}),
    }


def _run_properties(stand: Stand) -> dict[str, object]:
    return {
        "standing": stand.standing.value,
        "why": stand.why,
        "calls": stand.calls,
        "modules": [path or ROOT for path in stand.modules],
    }


def _suppressions(stand: Stand) -> list[dict[str, str]]:
    """Return why a result need not be looked at: of all results of a log, or of none."""
    if stand.standing is not Standing.REFUTED:
        return []
    return [{"kind": "external", "status": "accepted", "justification": f"refuted: {stand.why}"}]


def _chain(chain: Sequence[Step]) -> Iterator[dict[str, object]]:
    for number, step in enumerate(chain):
        lead = "calls" if number else "captured from"
        # The whole line: columns are not known.
        region = None if step.cell is not None else {"startLine": step.line}
        yield {
            "id": number,
            "physicalLocation": _physical(step.path, region),
            "message": {"text": f"{lead} {step.function}"},
        }


def _location(path: str, span: Span, cell: int | None) -> dict[str, object]:
    """Return a place. A cell's lines are not those of the notebook's file, so it has no region."""
    return {"physicalLocation": _physical(path, None if cell is not None else _region(span))}


def _physical(path: str, region: dict[str, int] | None) -> dict[str, object]:
    place: dict[str, object] = {"artifactLocation": _artifact(path)}
    return place if region is None else {**place, "region": region}


def _artifact(path: str) -> dict[str, object]:
    """Return a path as a URI: relative to the working directory, or absolute when outside it."""
    if Path(path).is_absolute():
        return {"uri": Path(path).as_uri()}
    # Bytes, because a name need not be text; a colon would make what is before it a scheme.
    return {"uri": quote(os.fsencode(path), safe="/"), "uriBaseId": _HERE}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column + 1,
        "endLine": span.end_line,
        "endColumn": span.end_column + 1,
    }


def _fixes(finding: Finding) -> dict[str, object]:
    fix = finding.fix
    if fix is None or not fix.edits or finding.cell is not None:
        return {}
    return {"fixes": [_fix(fix, finding.path)]}


def _fix(fix: Fix, path: str) -> dict[str, object]:
    change = {
        "artifactLocation": _artifact(path),
        "replacements": [_replacement(edit) for edit in fix.edits],
    }
    return {"description": {"text": f"{fix.grade} fix"}, "artifactChanges": [change]}


def _replacement(edit: Edit) -> dict[str, object]:
    return {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}
