"""Findings, one line each, for editors and `grep`."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from capturelint.finding import Finding
from capturelint.report.excerpt import printable
from capturelint.report.place import place
from capturelint.report.text import DISTANT

if TYPE_CHECKING:
    from capturelint.lint.result import CheckResult


def render(result: CheckResult, distant: Collection[Finding] = ()) -> str:
    """Return a line for each finding: place, code, name, effects and message.

    `distant`: findings that a change elsewhere brought, which is said of them.
    """
    return "\n".join(
        f"{line(finding)} ({DISTANT})" if finding in distant else line(finding)
        for finding in result.findings
    )


def line(finding: Finding) -> str:
    """Return a finding on one line."""
    effects = ", ".join(effect.value for effect in finding.effects)
    words = [f"{place(finding)}:", finding.code, finding.name]
    return " ".join([*words, *([f"[{effects}]"] if effects else []), printable(finding.message)])
