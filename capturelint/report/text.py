"""Findings for people: a line to click on, the source with a caret, one summary line."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from capturelint.finding import Effect, Finding
from capturelint.report.excerpt import excerpt, printable
from capturelint.report.place import place, step_place
from capturelint.report.style import Style

if TYPE_CHECKING:
    from capturelint.lint.result import CheckResult

DISTANT = "this line did not change; it is reported because of a change elsewhere"
NO_ROOTS = (
    "NO ROOTS: nothing here is known to run inside a CUDA graph, so next to nothing was checked.\n"
    "  Name the captured functions in the configuration (`roots`), or write\n"
    "  `# capturelint: captured` above them. Failing that, `--scope all` looks at all code, also at\n"
    "  what never runs under capture."
)
_HINT = "`capturelint rule CODE` says why and what to write instead"


def render(
    result: CheckResult,
    *,
    color: bool,
    show_chain: bool,
    needs_roots: bool = True,
    distant: Collection[Finding] = (),
    show_refusals: bool = False,
) -> str:
    """Return every finding and the summary. `needs_roots`: say it loudly when there is no root.

    `distant` are findings that a change elsewhere brought, which their chains may explain.
    `show_refusals`: say why there is no fix, where one was looked for.
    """
    style = Style(color)
    parts = []
    for finding in result.findings:
        parts.append(_block(finding, style, show_chain=show_chain, is_distant=finding in distant))
        if show_refusals and finding.refusal:
            parts.append(f"    no fix: {printable(finding.refusal)}")
    return "\n".join([*parts, conclusion(result, color=color, needs_roots=needs_roots)])


def conclusion(
    result: CheckResult, *, color: bool, needs_roots: bool = True, hints: bool = True
) -> str:
    """Return what follows the findings; the summary is its last line.

    Patterns that match nothing are told on stderr.
    """
    style = Style(color)
    lines: list[str] = []
    if needs_roots and is_rootless(result):
        lines.append(style.loud(NO_ROOTS))
    if hints and result.findings:
        lines.append(style.dim(_HINT))
        lines += [style.dim(hint) for hint in _fixable(result)]
    lines.append(style.strong(summary(result)))
    return "\n".join(lines)


def _fixable(result: CheckResult) -> Iterator[str]:
    """Yield a line on how many findings have a fix, if some have one."""
    grades = [finding.fix.grade for finding in result.findings if finding.fix is not None]
    sure = grades.count("proven")
    others = len(grades) - sure
    more = f"{others} more with `--unsafe-fixes`"
    if sure:
        yield f"`--fix` rewrites {sure} of them, `--diff` shows how" + (
            f"; {more}" if others else ""
        )
    elif others:
        yield f"`--fix --unsafe-fixes` rewrites {others} of them, `--diff` instead of `--fix` shows how"


def is_rootless(result: CheckResult) -> bool:
    """Return whether files were read but nothing in them is captured."""
    return result.files > 0 and result.roots == 0


def summary(result: CheckResult) -> str:
    """Return the counts of a run in one line."""
    unread = len({f.path for f in result.findings if f.code == "CL000"})
    parts = [
        counted(len(result.findings), "finding"),
        # What could not be read is told apart at the end.
        counted(result.files, "file") + ("" if unread else " checked"),
        counted(result.roots, "root"),
        counted(result.captured_functions, "captured function"),
        *([counted(result.step_functions, "step function")] if result.step_functions else []),
        f"preset {', '.join(result.presets)}" if result.presets else "no preset",
    ]
    if result.baselined:
        parts.append(f"{result.baselined:,} in the baseline")
    if result.older:
        parts.append(f"{result.older:,} not from the change")
    uncaptured = sum(finding.if_captured for finding in result.findings)
    if uncaptured:
        parts.append(f"{counted(uncaptured, 'finding')} in code that is never captured")
    if unread:
        parts.append(f"{unread} not checked (CL000)")
    return ", ".join(parts)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as `1 root` or `1,204 roots`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _block(finding: Finding, style: Style, *, show_chain: bool, is_distant: bool) -> str:
    span = finding.span
    effects = ", ".join(effect.value for effect in finding.effects)
    head = [style.strong(f"{place(finding)}:"), style.bad(finding.code), finding.name]
    lines = [" ".join([*head, *([f"[{effects}]"] if effects else []), printable(finding.message)])]
    if finding.source.strip():
        end = span.end_column if span.end_line == span.line else None
        text, carets = excerpt(finding.source, span.column, end)
        lines += [f"    {text}", f"    {style.bad(carets)}"]
    if is_distant:
        lines.append(f"    {DISTANT}")
    if show_chain or is_distant:
        lines += _chain(finding)
    return "\n".join(lines)


def _chain(finding: Finding) -> Iterator[str]:
    for depth, step in enumerate(finding.chain):
        start = "each step of" if finding.effects == (Effect.SLOW,) else "captured from"
        lead = start if depth == 0 else "calls"
        yield f"    {lead:>13} {step.function} ({step_place(step)})"
