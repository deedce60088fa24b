"""The fix for each thing that rules report in one function, decided by the source alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType

from capturelint.finding import Edit, Fix
from capturelint.lint.subjects import Mendable
from capturelint.rewrite.form import Form, Refusal
from capturelint.rewrite.patterns import (
    checked_linalg,
    device_fill,
    guarded_text,
    list_index,
    moved_fill,
    stored_number,
)
from capturelint.rewrite.site import Facts, Site
from capturelint.rule import Report
from capturelint.source import SourceFile

# In the order in which they are asked.
PATTERNS = (guarded_text, device_fill, moved_fill, list_index, stored_number, checked_linalg)


def _by_code(patterns: Sequence[ModuleType]) -> Mapping[str, tuple[ModuleType, ...]]:
    codes = sorted({code for pattern in patterns for code in pattern.CODES})
    return {code: tuple(one for one in patterns if code in one.CODES) for code in codes}


_PATTERNS = _by_code(PATTERNS)


def mended(function: Mendable, reports: Sequence[tuple[str, Report]]) -> list[Report]:
    """Return reports, each given with its code, with a fix or why there is none, where known."""
    facts = Facts(function)
    return [_mended(code, report, facts) for code, report in reports]


def _mended(code: str, report: Report, facts: Facts) -> Report:
    if report.node is None:
        return report
    site = Site(code, report.node, facts)
    for pattern in _PATTERNS.get(code, ()):
        found: tuple[Form, ...] | Refusal = pattern.match(site)
        if isinstance(found, Refusal):
            return replace(report, refusal=str(found))
        if found:
            return replace(report, fix=_fix(found[0], facts.source))
    return report


def _fix(form: Form, source: SourceFile) -> Fix:
    edits = (Edit(source.in_file(edit.span), edit.text) for edit in form.edits)
    return Fix(form.grade.value, tuple(edits))
