"""The files of one run after linking and evaluation: what is captured, and from where."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from capturelint.config import Config, Scope
from capturelint.errors import shown_path
from capturelint.finding import Finding
from capturelint.lint.around import Around, look_around
from capturelint.lint.cache.seen import Seen
from capturelint.lint.cache.store import FactsStore
from capturelint.lint.cells import Cells
from capturelint.lint.context import beside
from capturelint.lint.files import Problem, UnreadableFileError
from capturelint.lint.patterns import Patterns
from capturelint.lint.project import Project
from capturelint.lint.reader import Reader
from capturelint.lint.roots import find_roots, find_seeds, find_sites
from capturelint.lint.suppress import WORDS
from capturelint.lint.values import marks
from capturelint.lint.values.analysis import Analysis
from capturelint.lint.values.state import FunctionState
from capturelint.lint.values.surroundings import Surroundings
from capturelint.lint.ways import Way, start_of
from capturelint.names import FileFacts
from capturelint.preset import Preset, load_preset, presets_for
from capturelint.release import Release
from capturelint.rule import Trait

_GIVEN = "given to make_graphed_callables or to torch.compile with a graph mode"
_SITE = "holds `with torch.cuda.graph(...)`"

Wanted = Callable[[set[str], set[Trait]], bool]
Progress = Callable[[str], None]


class Linked:
    """One run's project and what evaluating it gave. Made by `link`."""

    def __init__(
        self,
        project: Project,
        reader: Reader,
        analysis: Analysis,
        *,
        own: frozenset[str],
        problems: Sequence[Problem],
        presets: Sequence[Preset],
        files: int,
        commented: Iterable[str],
    ) -> None:
        self.project = project
        self.reader = reader
        self.analysis = analysis
        self.problems = tuple(problems)
        self.unread = frozenset(shown_path(str(problem.path)) for problem in problems)
        self.presets = tuple(preset.name for preset in presets)
        self.files = files
        self.target: Release | None = None
        self.roots: dict[int, str] = {}
        self.captured: dict[int, None] = {}
        self.cells = Cells(self._lines)
        self.around: Around | None = None
        self._own = own
        self._commented = tuple(commented)
        self._comments = tuple(text for preset in presets for text in preset.comments)
        self._words = (*WORDS, *(text.lower() for text in self._comments))
        self._paths: dict[str, str] = {}
        self._shown: dict[str, str] = {}

    def states(self) -> list[FunctionState]:
        """Return the evaluated functions of the checked files, in order of file and line."""
        return self._own_states(self.analysis)

    def step_states(self) -> list[FunctionState]:
        """Return those that run each step around captured regions, where they were asked for."""
        if self.around is None:
            return []
        # The body of a graph is captured, the function that holds it is not.
        inside = {i for i in self.captured if not self.analysis.states[i].is_site}
        states = self._own_states(self.around.analysis)
        return [state for state in states if state.index not in inside]

    def _own_states(self, analysis: Analysis) -> list[FunctionState]:
        return [
            state
            for index, state in sorted(analysis.states.items())
            if state.rounds and self.is_own(index)
        ]

    def is_own(self, index: int) -> bool:
        """Return whether a function is in a checked file, and not in one read for the link."""
        return self.project.functions[index].file.module in self._own

    def way_to(self, index: int, *, is_step: bool) -> Way | None:
        """Return the way to a captured function, or one of a step; None if nothing leads to it."""
        if is_step:
            return None if self.around is None else Way(self.around.analysis, index, self.shown)
        return Way(self.analysis, index, self.shown) if index in self.captured else None

    def failures(self) -> Iterator[tuple[int, str]]:
        """Yield the functions of the checked files that could not be analysed, with why."""
        failures = dict(self.analysis.failures)
        if self.around is not None:
            failures.update(self.around.analysis.failures)
        for index, why in failures.items():
            if self.is_own(index):
                yield index, why

    def commented(self) -> tuple[str, ...]:
        """Return the shown paths of files with comments addressed to capturelint."""
        return self._commented

    def shown(self, path: str) -> str:
        """Return a path as printed, worked out once."""
        found = self._shown.get(path)
        if found is None:
            found = self._shown[path] = shown_path(path)
        return found

    def text(self, path: str) -> str:
        """Return the text of a file by its shown path, for comments in it that accept findings."""
        with suppress(UnreadableFileError):
            return self.reader.text(self._path(path), self._words)
        return ""

    def _lines(self, path: str) -> tuple[str, ...] | None:
        """Return the lines of a file given by its shown path, None if it cannot be read."""
        try:
            return self.reader.source(self._path(path)).lines
        except UnreadableFileError:
            return None

    def _path(self, shown: str) -> str:
        if shown not in self._paths:
            for facts in self.project.files.values():
                self._paths[self.shown(facts.path)] = facts.path
        return self._paths.get(shown, shown)

    def without_accepted(self, findings: list[Finding], text: str) -> list[Finding]:
        """Return findings whose lines carry no comment by which an engine accepts a sync."""
        if not findings or not any(comment in text for comment in self._comments):
            return findings
        lines = text.split("\n")
        return [
            finding
            for finding in findings
            if not any(
                comment in line
                for comment in self._comments
                for line in lines[max(finding.span.line - 2, 0) : finding.span.end_line]
                if "#" in line
            )
        ]


def link(
    paths: Sequence[Path],
    problems: Sequence[Problem],
    config: Config,
    wanted: Wanted,
    *,
    stdin: tuple[Path, str] | None,
    progress: Progress | None,
    named: Sequence[Path] = (),
    store: FactsStore | None = None,
    seen: Seen | None = None,
    texts: Mapping[str, str] | None = None,
) -> Linked:
    """Read, link and evaluate files. `named` are those given one by one, not by a folder.

    `store` keeps facts from run to run; `seen` is filled with what was read. `texts` are taken for
    those of files.
    """
    reader = Reader(stdin, store=store, seen=seen, texts=texts)
    jobs = config.jobs or os.cpu_count() or 1
    facts, unread = reader.index(paths, jobs=jobs, progress=progress)
    project = Project(reader.load)
    for one in facts:
        project.add(one)
    own = frozenset(project.files)
    if config.scope is not Scope.ALL:
        # Files named alone are reached from the rest of their package; that is not reported.
        for one in reader.index(beside(reader, paths, named), jobs=jobs, progress=progress)[0]:
            project.add(one)
    for number in range(len(project.classes)):
        # Bases in other files of the package are read now, so that their roots count.
        project.order(number)
    presets = _presets(project, facts, config)
    everything = config.scope is Scope.ALL
    uncaptured = [pattern for preset in presets for pattern in preset.uncaptured]
    eager = Patterns([*config.eager, *config.step, *uncaptured], project)
    configured = Patterns(
        [*config.roots, *(p for preset in presets for p in preset.roots)], project
    )
    surroundings = Surroundings(project, presets, eager.match, thorough=everything)
    analysis = Analysis(project, surroundings, reader.body_of, wanted)
    if progress is not None:
        progress(f"following {len(project.functions)} functions")
    roots = dict(find_roots(project, configured))
    marks.evaluate(analysis, roots, find_sites(project))
    linked = Linked(
        project,
        reader,
        analysis,
        own=own,
        problems=[*problems, *unread],
        presets=presets,
        files=len(paths),
        commented=[shown_path(one.path) for one in facts if one.has_comments],
    )
    linked.target = config.target_torch
    _note_captured(linked, roots)
    if config.scope is Scope.STEP:
        linked.around = look_around(analysis, presets, config, reader.body_of, wanted)
    if everything:
        surroundings.include_everything(linked.captured)
        marks.evaluate(analysis, find_seeds(project, linked.is_own, linked.captured), ())
    return linked


def _note_captured(linked: Linked, roots: dict[int, str]) -> None:
    for index, state in linked.analysis.states.items():
        if not state.rounds or not linked.is_own(index):
            continue
        linked.captured[index] = None
        if state.is_root:
            linked.roots[index] = roots.get(index, _GIVEN)
        elif state.is_site:
            linked.roots[index] = _SITE
    for index in linked.captured:
        # A root in a file that is not checked counts where it reaches one that is.
        root = start_of(linked.analysis, index)
        start = linked.analysis.states.get(root)
        if root not in linked.roots and start is not None and (start.is_site or start.is_root):
            linked.roots[root] = _SITE if start.is_site else roots.get(root, _GIVEN)


def _presets(project: Project, facts: Sequence[FileFacts], config: Config) -> list[Preset]:
    if config.preset is not None:
        return [load_preset(name) for name in config.preset]
    own = list(presets_for(project.packages))
    if own:
        return own
    imported = {module.partition(".")[0] for one in facts for module, _ in one.imports.values()}
    return list(presets_for(imported))
