"""What the rules say of functions that were evaluated, and of code around captures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from capturelint.finding import Finding, Span
from capturelint.lint import subjects
from capturelint.lint.failing import blaming
from capturelint.lint.files import Problem, as_finding
from capturelint.lint.interpreter import deep_recursion
from capturelint.lint.linked import Linked
from capturelint.lint.notebook import is_notebook
from capturelint.lint.said import Said, Section
from capturelint.lint.sites.reading import read_sites
from capturelint.lint.subjects import Mender
from capturelint.lint.values.state import FunctionState
from capturelint.lint.ways import Way, first_line
from capturelint.rule import Report, Rule, Subject

Progress = Callable[[str], None]
_NOTEBOOK = "notebooks are not rewritten"


def said_of_all(
    linked: Linked,
    active: Sequence[type[Rule]],
    progress: Progress | None,
    mend: Mender | None,
) -> list[Said]:
    """Return what is said of all files and of everything that was evaluated."""
    unread = [as_finding(problem, linked.shown(str(problem.path))) for problem in linked.problems]
    said = [Said(Section.FILES, -1, finding) for finding in unread]
    states = [state for state in linked.states() if state.names or state.traits]
    for number, state in enumerate(states, start=1):
        if progress is not None and number % 50 == 0:
            progress(f"checking {number} of {len(states)} functions")
        said += said_of(linked, state, active, mend=mend)
    steps = [one for s in linked.step_states() for one in said_of(linked, s, active, is_step=True)]
    said = _joined(said, steps)
    judges = [rule for rule in active if rule.judge_site is not Rule.judge_site]
    said += _said_at_sites(linked, judges)
    said += [
        Said(Section.FAILURES, index, _unread(linked, index, why))
        for index, why in linked.failures()
    ]
    return said


def _joined(said: list[Said], steps: list[Said]) -> list[Said]:
    """Return what is said of all functions and of steps, of one thing only what it does to a step.

    What the other would say is of a capture that there is not; the fix is the same.
    """
    supposed = {_place(one.finding): one.finding for one in said if one.finding.if_captured}
    others = [supposed.get(_place(one.finding)) for one in steps]
    told = {_place(one.finding) for one in steps}
    left = [one for one in said if not (one.finding.if_captured and _place(one.finding) in told)]
    return left + [
        one
        if other is None
        else replace(one, finding=replace(one.finding, fix=other.fix, refusal=other.refusal))
        for one, other in zip(steps, others, strict=True)
    ]


def _place(finding: Finding) -> tuple[str, str, Span]:
    return finding.code, finding.path, finding.span


def said_of(
    linked: Linked,
    state: FunctionState,
    active: Sequence[type[Rule]],
    *,
    is_step: bool = False,
    mend: Mender | None = None,
) -> list[Said]:
    """Return what the rules say of one function. `is_step`: as it runs each step."""
    rules = [rule for rule in active if rule.about.waits] if is_step else active
    with deep_recursion(), blaming(rules):
        found = _findings_of(linked, state, rules, is_step=is_step, mend=mend)
    section = Section.STEPS if is_step else Section.CAPTURED
    return [Said(section, state.index, finding) for finding in found]


def _findings_of(
    linked: Linked,
    state: FunctionState,
    rules: Iterable[type[Rule]],
    *,
    is_step: bool = False,
    mend: Mender | None = None,
) -> list[Finding]:
    chosen = [rule for rule in rules if subjects.is_wanted(rule, state.names, state.traits)]
    if not chosen:
        return []
    function = linked.project.functions[state.index]
    source = linked.reader.source_of(function)
    is_captured = not is_step and state.index in linked.captured
    try:
        said = subjects.reports_of(
            chosen,
            source,
            function.facts,
            state.values,
            state.marks,
            captured=is_captured,
            is_step=is_step,
            target=linked.target,
            file=lambda: linked.reader.whole(function.file.path),
            mend=mend,
            is_scripted=linked.is_scripted or function.file.scripts_own,
        )
    except (subjects.UnparsedError, RecursionError):
        return [
            _unread(linked, state.index, "is nested too deeply, or has syntax libcst cannot read")
        ]
    if is_notebook(function.file.path):
        said = [(rule, _unmended(report)) for rule, report in said]
    way = linked.way_to(state.index, is_step=is_step)
    is_idea = not is_step and not is_captured
    return [
        _finding(linked, state.index, rule, report, way, if_captured=is_idea)
        for rule, report in _once(said)
    ]


def _unmended(report: Report) -> Report:
    """Return a report of a notebook, without the fix that it would have in a file."""
    if report.fix is None and not report.refusal:
        return report
    return replace(report, fix=None, refusal=_NOTEBOOK)


def _said_at_sites(linked: Linked, rules: Sequence[type[Rule]]) -> list[Said]:
    """Return what rules say of code around captures, each finding in the function it stands in."""
    found: list[Said] = []
    if not rules:
        return found
    for functions, site in read_sites(linked):
        said: list[tuple[type[Rule], Report]] = []
        for rule in rules:
            visitor = rule(Subject(site.name, {}, {}, captured=False, target=linked.target))
            with blaming([rule]):
                visitor.judge_site(site)
            said += [(rule, report) for report in visitor.reports]
        for rule, report in _once(said):
            home = next(
                f for f in functions if f.facts.first_line <= report.span.line <= f.facts.end_line
            )
            finding = _finding(linked, home.index, rule, report, None)
            found.append(Said(Section.SITES, home.index, finding))
    return found


def _unread(linked: Linked, index: int, why: str) -> Finding:
    """Return the finding that says of a function that it was not checked."""
    function = linked.project.functions[index]
    line = first_line(function)
    problem = Problem(Path(function.file.path), line, 0, f"{function.facts.qualname} {why}")
    return as_finding(problem, linked.shown(function.file.path))


def _once(said: list[tuple[type[Rule], Report]]) -> list[tuple[type[Rule], Report]]:
    """Return reports without repeats of one rule at one place."""
    return list({(rule.about.code, report.span): (rule, report) for rule, report in said}.values())


def _finding(
    linked: Linked,
    index: int,
    rule: type[Rule],
    report: Report,
    way: Way | None,
    *,
    if_captured: bool = False,
) -> Finding:
    function = linked.project.functions[index]
    source = linked.reader.source_of(function)
    return Finding(
        code=rule.about.code,
        name=rule.about.name,
        effects=report.effects,
        # The rules speak of what a capture does to the code.
        message=f"if captured: {report.message}" if if_captured else report.message,
        path=linked.shown(function.file.path),
        span=source.in_file(report.span),
        function=function.full_name,
        source=source.whole_line(report.span.line),
        chain=() if way is None else way.steps(report.span.line),
        if_captured=if_captured,
        fix=report.fix,
        refusal=report.refusal,
    )
