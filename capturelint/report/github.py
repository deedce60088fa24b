"""Findings as workflow commands, which GitHub Actions shows beside the lines of a change."""

# The format: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
# and what its own toolkit escapes: `packages/core/src/command.ts` in actions/toolkit.

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from capturelint.finding import Finding
from capturelint.report.place import one_line
from capturelint.report.severity import is_error
from capturelint.report.text import DISTANT, summary

if TYPE_CHECKING:
    from capturelint.lint.result import CheckResult


def render(result: CheckResult, *, folder: str = "", distant: Collection[Finding] = ()) -> str:
    """Return a line for each finding and each thing that went wrong, then the summary for the log.

    `folder`: the working directory as seen from the top of the repository, where GitHub's paths
    start; "" if that is the working directory itself. `distant`: findings that a change elsewhere
    brought, which is said of them.
    """
    lines = [
        _command(finding, folder, is_distant=finding in distant) for finding in result.findings
    ]
    lines += [f"::error title=capturelint::{_data(error)}" for error in result.errors]
    lines += [f"::warning title=capturelint::{_data(warning)}" for warning in result.warnings]
    return "\n".join([*lines, summary(result)])


def _command(finding: Finding, folder: str, *, is_distant: bool) -> str:
    kind = "error" if is_error(finding) else "warning"
    properties = ",".join(f"{key}={_property(value)}" for key, value in _where(finding, folder))
    effects = ", ".join(effect.value for effect in finding.effects)
    text = f"{finding.message} [{effects}]" if effects else finding.message
    if is_distant:
        text = f"{text} ({DISTANT})"
    if finding.cell is not None:
        text = f"cell {finding.cell}, line {finding.span.line}: {text}"
    return f"::{kind} {properties}::{_data(text)}"


def _where(finding: Finding, folder: str) -> Iterator[tuple[str, str]]:
    is_inside = folder and not finding.path.startswith("/")
    yield "file", f"{folder}/{finding.path}" if is_inside else finding.path
    span = finding.span
    # The lines of a cell are not those of the notebook's file.
    if finding.cell is None:
        yield "line", str(span.line)
        yield "endLine", str(span.end_line)
        # GitHub takes columns only of a finding on one line.
        if span.line == span.end_line:
            yield "col", str(span.column + 1)
            yield "endColumn", str(span.end_column + 1)
    yield "title", f"{finding.code} {finding.name}"


def _data(text: str) -> str:
    lines = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    # What else cannot be printed could move the cursor of whoever reads the log.
    return one_line(lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
