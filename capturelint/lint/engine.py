"""Check files: index, link, evaluate what is captured, run the rules, filter what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from capturelint.config import Config
from capturelint.finding import Finding, Step
from capturelint.lint import subjects
from capturelint.lint.files import Problem, as_finding, discover
from capturelint.lint.filters import kept_of
from capturelint.lint.interpreter import deep_recursion, without_collection
from capturelint.lint.linked import Linked, link
from capturelint.lint.patterns import idle
from capturelint.lint.registry import RuleEntry
from capturelint.lint.result import CheckResult, Reached, RootReport
from capturelint.lint.symbols import Function
from capturelint.lint.values.state import FunctionState
from capturelint.rule import Report, Rule, Trait
from capturelint.source import line_shift

Progress = Callable[[str], None]


def check(
    paths: Sequence[Path],
    config: Config,
    rules: Sequence[RuleEntry],
    *,
    stdin: tuple[Path, str] | None = None,
    progress: Progress | None = None,
) -> CheckResult:
    """Return what the selected rules find in the files under `paths`."""
    active = [entry.rule for entry in rules if config.selects(entry.code)]

    def wanted(names: set[str], traits: set[Trait]) -> bool:
        return any(subjects.is_wanted(rule, names, traits) for rule in active)

    linked = _linked(paths, config, wanted, stdin=stdin, progress=progress)
    found = [as_finding(p, linked.shown(str(p.path))) for p in linked.problems]
    errors: list[str] = []
    if stdin is None and any(path.is_dir() for path in paths):
        # Of files named one by one nobody expects that they hold all that is configured.
        for key, patterns in (("roots", config.roots), ("eager", config.eager)):
            errors += [f"{key}: {line}" for line in idle(patterns, linked.project)]
    states = [state for state in linked.states() if state.names or state.traits]
    for number, state in enumerate(states, start=1):
        if progress is not None and number % 50 == 0:
            progress(f"checking {number} of {len(states)} functions")
        with deep_recursion():
            found += _findings_of(linked, state, active)
    for index, why in linked.analysis.failures.items():
        if linked.is_own(index):
            found.append(_unread(linked, index, why))
    known = frozenset(entry.code for entry in rules)
    kept = kept_of(found, linked, config, frozenset(rule.about.code for rule in active), known)
    return CheckResult(
        findings=tuple(map(linked.cells.finding, sorted(kept, key=lambda f: f.sort_key))),
        roots=len(linked.roots),
        captured_functions=len(linked.captured),
        files=linked.files,
        presets=linked.presets,
        errors=tuple(errors),
    )


def list_roots(
    paths: Sequence[Path], config: Config, *, progress: Progress | None = None
) -> tuple[RootReport, ...]:
    """Return the roots of the files under `paths` and what each one reaches."""
    linked = _linked(paths, config, lambda _names, _traits: False, stdin=None, progress=progress)
    reached: dict[int, list[Reached]] = {}
    for index in linked.captured:
        chain = chain_of(linked, index, None)
        function = linked.project.functions[index]
        root = linked.root_of(index)
        if root != index:
            path = linked.shown(function.file.path)
            one = Reached(function.full_name, path, _line(function), chain)
            reached.setdefault(root, []).append(one)
    roots = (
        RootReport(
            function.full_name,
            linked.shown(function.file.path),
            _line(function),
            why,
            tuple(reached.get(index, ())),
        )
        for index, why in linked.roots.items()
        for function in [linked.project.functions[index]]
    )
    return tuple(map(linked.cells.root, roots))


def _line(function: Function) -> int:
    """Return the line of a function's `def`; a module's own code starts with its first."""
    return max(function.facts.line, 1)


def chain_of(linked: Linked, index: int, line: int | None) -> tuple[Step, ...]:
    """Return the way from a root to a function. `line` is that of the finding in it, if any."""
    steps: list[Step] = []
    seen = set()
    current: int | None = index
    while current is not None and current not in seen:
        seen.add(current)
        function = linked.project.functions[current]
        path = linked.shown(function.file.path)
        steps.append(Step(path, line or _line(function), function.facts.qualname))
        state = linked.analysis.states.get(current)
        came = None if state is None else state.chain
        current = None
        if came is not None:
            current = came[0]
            line = came[1] + line_shift(linked.project.functions[came[0]].facts)
    return tuple(reversed(steps))


def _linked(
    paths: Sequence[Path],
    config: Config,
    wanted: Callable[[set[str], set[Trait]], bool],
    *,
    stdin: tuple[Path, str] | None,
    progress: Progress | None,
) -> Linked:
    with without_collection():
        if stdin is not None:
            named = [stdin[0]]
            return link(named, [], config, wanted, stdin=stdin, progress=progress, named=named)
        found, problems = discover(paths, exclude=config.exclude, root=config.root)
        named = [path for path in paths if path.is_file()]
        return link(found, problems, config, wanted, stdin=None, progress=progress, named=named)


def _findings_of(
    linked: Linked, state: FunctionState, rules: Iterable[type[Rule]]
) -> list[Finding]:
    chosen = [rule for rule in rules if subjects.is_wanted(rule, state.names, state.traits)]
    if not chosen:
        return []
    function = linked.project.functions[state.index]
    source = linked.reader.source(function.file.path)
    is_captured = state.index in linked.captured
    try:
        said = subjects.reports_of(
            chosen, source, function.facts, state.values, captured=is_captured
        )
    except subjects.UNPARSED:
        return [
            _unread(linked, state.index, "is nested too deeply, or has syntax libcst cannot read")
        ]
    return [_finding(linked, state.index, rule, report) for rule, report in _once(said)]


def _unread(linked: Linked, index: int, why: str) -> Finding:
    """Return the finding that says of a function that it was not checked."""
    function = linked.project.functions[index]
    line = _line(function)
    problem = Problem(Path(function.file.path), line, 0, f"{function.facts.qualname} {why}")
    return as_finding(problem, linked.shown(function.file.path))


def _once(said: list[tuple[type[Rule], Report]]) -> list[tuple[type[Rule], Report]]:
    """Return reports without repeats of one rule at one place."""
    return list({(rule.about.code, report.span): (rule, report) for rule, report in said}.values())


def _finding(linked: Linked, index: int, rule: type[Rule], report: Report) -> Finding:
    function = linked.project.functions[index]
    source = linked.reader.source(function.file.path)
    is_captured = index in linked.captured
    return Finding(
        code=rule.about.code,
        name=rule.about.name,
        effects=report.effects,
        message=report.message,
        path=linked.shown(function.file.path),
        span=report.span,
        function=function.full_name,
        source=source.line(report.span.line),
        chain=chain_of(linked, index, report.span.line) if is_captured else (),
    )
