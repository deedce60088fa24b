"""Check files: index, link, evaluate what is captured, run the rules, filter what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from capturelint.config import Config
from capturelint.finding import Finding
from capturelint.lint import subjects
from capturelint.lint.cache.seen import Seen
from capturelint.lint.cache.store import FactsStore
from capturelint.lint.files import Problem, as_finding, discover
from capturelint.lint.filters import kept_of
from capturelint.lint.interpreter import (
    deep_recursion,
    with_room,
    without_collection,
    without_warnings,
)
from capturelint.lint.linked import Linked, link
from capturelint.lint.notebook import is_notebook
from capturelint.lint.registry import RuleEntry
from capturelint.lint.result import CheckResult
from capturelint.lint.sites.reading import read_sites
from capturelint.lint.subjects import Mender
from capturelint.lint.unmatched import unmatched
from capturelint.lint.values.state import FunctionState
from capturelint.lint.ways import Way, first_line
from capturelint.rule import Report, Rule, Subject, Trait

Progress = Callable[[str], None]


def check(
    paths: Sequence[Path],
    config: Config,
    rules: Sequence[RuleEntry],
    *,
    stdin: tuple[Path, str] | None = None,
    progress: Progress | None = None,
    store: FactsStore | None = None,
    seen: Seen | None = None,
    mend: Mender | None = None,
    texts: Mapping[str, str] | None = None,
) -> CheckResult:
    """Return what the selected rules find in the files under `paths`.

    `store` keeps facts from run to run; `seen` is filled with what was read. `mend` gives fixes.
    `texts` are taken for those of files with these paths.
    """
    active = [entry.rule for entry in rules if config.selects(entry.code)]

    names_wanted = frozenset[str]().union(*(rule.triggers.names for rule in active))
    traits_wanted = frozenset[Trait]().union(*(rule.triggers.traits for rule in active))

    def wanted(names: set[str], traits: set[Trait]) -> bool:
        # Asked of each evaluation, so not rule by rule.
        return not (names_wanted.isdisjoint(names) and traits_wanted.isdisjoint(traits))

    linked = linked_files(
        paths, config, wanted, stdin=stdin, progress=progress, store=store, seen=seen, texts=texts
    )
    found = [as_finding(p, linked.shown(str(p.path))) for p in linked.problems]
    errors, warnings = unmatched(linked, config, [] if stdin is not None else paths)
    linked.reader.forget_trees()
    with without_collection(), without_warnings():
        found += _said(linked, active, progress, mend)
    for index, why in linked.failures():
        found.append(_unread(linked, index, why))
    known = frozenset(entry.code for entry in rules)
    kept = kept_of(found, linked, config, frozenset(rule.about.code for rule in active), known)
    return CheckResult(
        findings=tuple(map(linked.cells.finding, sorted(kept, key=lambda f: f.sort_key))),
        roots=len(linked.roots),
        captured_functions=len(linked.captured),
        files=linked.files,
        presets=linked.presets,
        errors=errors,
        step_functions=len(linked.step_states()),
        warnings=warnings,
    )


def _said(
    linked: Linked,
    active: Sequence[type[Rule]],
    progress: Progress | None,
    mend: Mender | None,
) -> list[Finding]:
    """Return what the rules say of everything that was evaluated."""
    found: list[Finding] = []
    states = [state for state in linked.states() if state.names or state.traits]
    for number, state in enumerate(states, start=1):
        if progress is not None and number % 50 == 0:
            progress(f"checking {number} of {len(states)} functions")
        with deep_recursion():
            found += _findings_of(linked, state, active, mend=mend)
    found += _findings_around(linked, active)
    found += _findings_at_sites(linked, [r for r in active if r.judge_site is not Rule.judge_site])
    return found


def _findings_around(linked: Linked, active: Sequence[type[Rule]]) -> list[Finding]:
    """Return what the rules say of code that runs each step, where it was asked for."""
    waiting = [rule for rule in active if rule.about.waits]
    found: list[Finding] = []
    for state in linked.step_states():
        with deep_recursion():
            found += _findings_of(linked, state, waiting, is_step=True)
    return found


def linked_files(
    paths: Sequence[Path],
    config: Config,
    wanted: Callable[[set[str], set[Trait]], bool],
    *,
    stdin: tuple[Path, str] | None,
    progress: Progress | None,
    store: FactsStore | None = None,
    seen: Seen | None = None,
    texts: Mapping[str, str] | None = None,
) -> Linked:
    """Return the files under `paths`, or the text from standard input, linked and evaluated."""
    problems: list[Problem] = []
    if stdin is not None:
        found = named = [stdin[0]]
    else:
        found, problems = discover(paths, exclude=config.exclude, root=config.root)
        named = [path for path in paths if path.is_file()]
    with without_collection(), without_warnings():
        return with_room(
            lambda: link(
                found,
                problems,
                config,
                wanted,
                stdin=stdin,
                progress=progress,
                named=named,
                store=store,
                seen=seen,
                texts=texts,
            )
        )


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
            mend=None if is_notebook(function.file.path) else mend,
        )
    except (subjects.UnparsedError, RecursionError):
        return [
            _unread(linked, state.index, "is nested too deeply, or has syntax libcst cannot read")
        ]
    way = linked.way_to(state.index, is_step=is_step)
    is_idea = not is_step and not is_captured
    return [
        _finding(linked, state.index, rule, report, way, if_captured=is_idea)
        for rule, report in _once(said)
    ]


def _findings_at_sites(linked: Linked, rules: Sequence[type[Rule]]) -> list[Finding]:
    """Return what rules say of code around captures, each finding in the function it stands in."""
    found: list[Finding] = []
    if not rules:
        return found
    for functions, site in read_sites(linked):
        said: list[tuple[type[Rule], Report]] = []
        for rule in rules:
            visitor = rule(Subject(site.name, {}, {}, captured=False, target=linked.target))
            visitor.judge_site(site)
            said += [(rule, report) for report in visitor.reports]
        for rule, report in _once(said):
            home = next(
                f for f in functions if f.facts.first_line <= report.span.line <= f.facts.end_line
            )
            found.append(_finding(linked, home.index, rule, report, None))
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
