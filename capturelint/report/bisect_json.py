"""What bisect found as JSON, one object for the whole run; lines count from 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

from capturelint.errors import shown_path
from capturelint.report.bisect_standing import document
from capturelint.report.json import dumped
from capturelint.report.standing.stand import Stand
from capturelint.verdict import (
    ROOT,
    Culprit,
    Evidence,
    Frozen,
    Hazard,
    ModuleVerdict,
    Place,
    Report,
)

_VERSION = 1


def render(report: Report, stands: Sequence[Stand] = ()) -> str:
    """Return the report as one line of ASCII, keys in a fixed order. The root's path is <root>.

    `stands`: how findings of `check` stand after the run.
    What is not known is null, or an empty text where a text is always there.
    """
    return dumped(
        {
            "version": _VERSION,
            "case": report.case,
            "backend": report.backend,
            "verdict": report.verdict.value,
            "modules": [_module(module) for module in report.modules],
            "culprits": [_culprit(culprit) for culprit in report.culprits],
            "hazards": [_hazard(hazard) for hazard in report.hazards],
            "findings": [document(stand) for stand in stands],
            "notes": list(report.notes),
            "environment": dict(report.environment),
            "timings": {name: _number(value) for name, value in report.timings.items()},
        }
    )


def _module(module: ModuleVerdict) -> dict[str, object]:
    return {
        "path": module.path or ROOT,
        "class": module.cls,
        "verdict": module.verdict.value,
        "calls": module.calls,
        "why": module.why,
    }


def _culprit(culprit: Culprit) -> dict[str, object]:
    return {
        "module": culprit.module or ROOT,
        "class": culprit.cls,
        **_place(culprit.place),
        "operation": culprit.operation,
        "effect": culprit.effect.value,
        "certainty": culprit.certainty.value,
        "code": culprit.code,
        "message": culprit.message,
        "evidence": _evidence(culprit.evidence),
    }


def _evidence(evidence: Evidence) -> dict[str, object]:
    return {
        "exception": evidence.exception,
        "replay": evidence.replay,
        "output": evidence.output,
        "difference": _number(evidence.difference),
        "tolerance": _number(evidence.tolerance),
        "dtype": evidence.dtype,
        "frozen": [_frozen(frozen) for frozen in evidence.frozen],
        "changes": list(evidence.changes),
        "together": [path or ROOT for path in evidence.together],
        "fills": list(evidence.fills),
        "rows": evidence.rows,
        "beginning": evidence.beginning,
        "counts": evidence.counts,
    }


def _frozen(frozen: Frozen) -> dict[str, object]:
    return {
        **_place(frozen.place),
        "operation": frozen.operation,
        "name": frozen.name,
        "before": frozen.before,
        "after": frozen.after,
        "cause": None if frozen.cause is None else _place(frozen.cause),
    }


def _hazard(hazard: Hazard) -> dict[str, object]:
    return {
        **_place(hazard.place),
        "module": hazard.module or ROOT,
        "operation": hazard.operation,
        "effect": hazard.effect.value,
        "code": hazard.code,
        "message": hazard.message,
        "calls": hazard.calls,
    }


def _place(place: Place | None) -> dict[str, object]:
    """Return path, line and source; null and "" where they are not known."""
    if place is None or not place.path:
        return {"path": None, "line": None, "source": ""}
    return {
        "path": shown_path(place.path),
        "line": place.line or None,
        "source": place.source.strip(),
    }


def _number(value: float | None) -> float | str | None:
    """Return what JSON can hold: it has no infinity and no NaN, which become text."""
    return value if value is None or math.isfinite(value) else str(value)
