"""The files of one run after linking and evaluation: what is captured, and from where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from capturelint.errors import shown_path
from capturelint.finding import Finding
from capturelint.lint.around import Around
from capturelint.lint.cells import Cells
from capturelint.lint.files import Problem, UnreadableFileError
from capturelint.lint.project import Project
from capturelint.lint.reader import Reader
from capturelint.lint.suppress import WORDS
from capturelint.lint.values.analysis import Analysis
from capturelint.lint.values.state import FunctionState
from capturelint.lint.ways import Way
from capturelint.preset import Preset
from capturelint.release import Release
from capturelint.source import split_lines


class Linked:
    """One run's project and what evaluating it gave. Made by `linking`."""

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
        # Whether what names mean did not depend on when evaluation asked for them.
        self.is_settled = True
        # Whether the project makes TorchScript of something, which may be anything of it.
        self.is_scripted = any(one.scripts_others for one in project.files.values())
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

    def looked_at(self) -> set[int]:
        """Return the functions in which something was looked for."""
        # Of a function that captures, only the region was looked at, and perhaps what runs each step.
        inside = [state for state in self.states() if not state.is_site]
        return {state.index for state in (*inside, *self.step_states())}

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
        lines = split_lines(text)
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
