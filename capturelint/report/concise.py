"""Findings, one line each, for editors and `grep`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from capturelint.finding import Finding
from capturelint.report.excerpt import printable
from capturelint.report.place import place

if TYPE_CHECKING:
    from capturelint.lint.result import CheckResult


def render(result: CheckResult) -> str:
    """Return a line for each finding: place, code, name, effects and message."""
    return "\n".join(line(finding) for finding in result.findings)


def line(finding: Finding) -> str:
    """Return a finding on one line."""
    effects = ", ".join(effect.value for effect in finding.effects)
    words = [f"{place(finding)}:", finding.code, finding.name]
    return " ".join([*words, *([f"[{effects}]"] if effects else []), printable(finding.message)])
