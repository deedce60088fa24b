"""Checking only the functions that changed, where everything else is shown to stay as it was.

A changed function is evaluated again with what it was given and answered before. If it asks and
gives the same, so does every other function: the evaluation of a project is one fixed sequence of
steps, of which this function is no other part. Then only its own findings, and the comments of its
file, can differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from capturelint.config import Config, Scope
from capturelint.errors import shown_path
from capturelint.finding import Finding
from capturelint.lint import engine, judging
from capturelint.lint.around import Around
from capturelint.lint.cache import used
from capturelint.lint.cache.edited import Edited, UnplacedError
from capturelint.lint.cache.seen import Seen
from capturelint.lint.cache.store import FactsStore
from capturelint.lint.discovery import discover
from capturelint.lint.evaluated import Evaluated
from capturelint.lint.filters import kept_of
from capturelint.lint.interpreter import deep_recursion, without_collection, without_warnings
from capturelint.lint.linking import Assembled, assemble
from capturelint.lint.reader import Reader
from capturelint.lint.registry import RuleEntry, names_of
from capturelint.lint.result import CheckResult
from capturelint.lint.said import Said
from capturelint.lint.subjects import Mender
from capturelint.lint.values.accounts import Accounts, first_line
from capturelint.lint.values.again import Again, DifferentError
from capturelint.lint.values.analysis import Analysis
from capturelint.lint.values.coding import Coding
from capturelint.lint.values.state import FunctionState
from capturelint.lint.values.surroundings import Surroundings
from capturelint.names import FileFacts

# Deeper than functions that people write nest; in a whole run, others are under way above.
_DEEPEST = 2_000


@dataclass(slots=True)
class Before:
    """An earlier run: its result, what was said before anything was accepted, what was evaluated."""

    result: CheckResult
    said: list[Said]
    evaluated: Evaluated


class _UnlikeError(Exception):
    """More changed than what can be checked alone."""


def recheck(
    paths: Sequence[Path],
    config: Config,
    rules: Sequence[RuleEntry],
    edited: Edited,
    before: Before,
    *,
    store: FactsStore,
    seen: Seen,
    mend: Mender | None,
) -> Before | None:
    """Return what a run finds, says and evaluates now; None if in doubt.

    `edited` knows what was touched of the files that were `seen`; both are brought up to date.
    `mend` gives fixes.
    """
    try:
        with without_collection(), without_warnings():
            return _Recheck(paths, config, rules, edited, before, store, seen, mend).run()
    except (_UnlikeError, DifferentError, UnplacedError, RecursionError):
        return None


class _Recheck:
    """One run over the functions that changed."""

    def __init__(
        self,
        paths: Sequence[Path],
        config: Config,
        rules: Sequence[RuleEntry],
        edited: Edited,
        before: Before,
        store: FactsStore,
        seen: Seen,
        mend: Mender | None,
    ) -> None:
        self._config = config
        self._edited = edited
        self._before = before
        self._seen = seen
        self._mend = mend
        self._evaluated = before.evaluated
        self._active = engine.active_of(rules, config)
        self._known = names_of(rules)
        self._accounts = Accounts(Coding(self._evaluated.names, self._evaluated.values))
        self._reader = Reader(config.root, store=store)
        for path, text in edited.texts.items():
            self._reader.hold(path, text)
        self._assembled = self._linked(paths)
        self._linked_files = self._assembled.linked
        self._analyses = self._made()
        self._lines: dict[int, Mapping[int, int]] = {}

    def run(self) -> Before:
        linked = self._linked_files
        project = linked.project
        known = len(project.files)
        with deep_recursion(_DEEPEST):
            states = [one for path in self._edited.changed for one in self._again(path)]
        if len(project.files) > known or project.is_circular:
            # What was asked for first in this version may change what others find.
            raise _UnlikeError
        self._follow()
        said = self._said(states)
        findings = self._kept(said)
        used.note(self._reader.seen, self._seen, self._edited)
        self._leave()
        return Before(replace(self._before.result, findings=findings), said, self._evaluated)

    def _linked(self, paths: Sequence[Path]) -> Assembled:
        config = self._config
        found, problems = discover(paths, exclude=config.exclude, root=config.root)
        assembled = assemble(
            found,
            problems,
            config,
            engine.wanted_by(self._active),
            reader=self._reader,
            named=[path for path in paths if path.is_file()],
            accounts=self._accounts,
        )
        files = self._seen.files.items()
        for path, held in self._reader.seen.files.items():
            before = self._seen.files.get(path)
            if before is None or before.digest != held.digest:
                raise _UnlikeError
        if any(one.said and at not in self._reader.seen.files for at, one in files):
            # One that is gone since a moment ago.
            raise _UnlikeError
        assembled.linked.captured = dict.fromkeys(self._evaluated.captured)
        return assembled

    def _made(self) -> list[Analysis]:
        """Return the analyses by phase, in which nothing has been evaluated."""
        linked, wanted = self._linked_files, engine.wanted_by(self._active)
        if self._config.scope is not Scope.STEP:
            return [linked.analysis]
        presets = self._assembled.presets
        # What is left out only tells which calls are followed, which here are answered.
        around = Surroundings(linked.project, presets, lambda _: False, around=True)
        second = Analysis(linked.project, around, self._reader, wanted, accounts=self._accounts)
        linked.around = Around(second, {})
        return [linked.analysis, second]

    def _again(self, path: str) -> Iterator[Again]:
        """Evaluate the changed functions of a file again."""
        project = self._linked_files.project
        facts = self._facts(path)
        records = self._evaluated.records_of(path)
        for place in self._edited.changed[path]:
            if place not in records:
                raise _UnlikeError
            function = project.functions[project.first_function[facts.module] + place]
            again = Again(self._analyses, self._accounts, function)
            before, now = records[place], again.perform(records[place])
            records[place] = now
            lines = dict(zip(before.lines, now.lines, strict=True))
            self._edited.bend(path, place, lines)
            self._lines[function.index] = lines
            yield again
        self._evaluated.keep(path, records)

    def _facts(self, path: str) -> FileFacts:
        files = self._linked_files.project.files.values()
        found = next((one for one in files if one.path == path), None)
        if found is None:
            raise _UnlikeError
        return found

    def _follow(self) -> None:
        """Tell the analyses who first called each function, from which line as it is now."""
        functions = self._linked_files.project.functions
        for phase, analysis in enumerate(self._analyses):
            chains = self._evaluated.chains_of(phase)
            for index, (caller, line) in chains.items():
                lines = self._lines.get(caller)
                now = line if lines is None else lines.get(line)
                if now is None:
                    raise _UnlikeError
                chains[index] = (caller, now)
                state = analysis.states.setdefault(index, FunctionState(index))
                state.chain = (caller, now + first_line(functions[caller]))
            self._evaluated.keep_chains(phase, chains)

    def _said(self, done: Sequence[Again]) -> list[Said]:
        """Return what is said now: of changed functions anew."""
        linked = self._linked_files
        said = [
            replace(one, finding=self._edited.finding(one.finding))
            for one in self._before.said
            if one.function not in self._lines
        ]
        for again in done:
            for phase, state in again.states.items():
                is_step = phase == 1
                if not linked.is_own(state.index) or (is_step and state.index in linked.captured):
                    continue
                if is_step or state.names or state.traits:
                    said += self._judged(state, is_step=is_step)
        return sorted(said, key=lambda one: (one.section, one.function))

    def _judged(self, state: FunctionState, *, is_step: bool) -> list[Said]:
        mend = None if is_step else self._mend
        return judging.said_of(self._linked_files, state, self._active, is_step=is_step, mend=mend)

    def _kept(self, said: Sequence[Said]) -> tuple[Finding, ...]:
        """Return what no comment accepts: in files whose comments may have changed, anew."""
        changed = {shown_path(p) for p in (*self._edited.changed, *self._edited.judged)}
        kept = kept_of(
            [one.finding for one in said if one.finding.path in changed],
            self._linked_files,
            self._config,
            frozenset(rule.about.code for rule in self._active),
            self._known,
            looked_at=frozenset(self._evaluated.looked_at),
            among=changed,
        )
        # In files that changed no notebook is; a way to what is found may begin in one.
        kept = list(map(self._linked_files.cells.finding, kept))
        others = self._before.result.findings
        kept += [self._edited.finding(one) for one in others if one.path not in changed]
        return tuple(sorted(kept, key=lambda finding: finding.sort_key))

    def _leave(self) -> None:
        """Drop the records of functions of which not all can be kept."""
        project = self._linked_files.project
        for index in self._accounts.unsaid:
            function = project.functions[index]
            records = self._evaluated.records_of(function.file.path)
            if records.pop(function.place, None) is not None:
                self._evaluated.keep(function.file.path, records)
