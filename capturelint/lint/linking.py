"""Linking: read the files of a run, tie them together, evaluate what is captured."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from capturelint.config import Config, Scope
from capturelint.errors import shown_path
from capturelint.lint.around import look_around
from capturelint.lint.cache.seen import Seen
from capturelint.lint.cache.store import FactsStore
from capturelint.lint.context import beside
from capturelint.lint.files import Problem
from capturelint.lint.homes import roots_of
from capturelint.lint.linked import Linked
from capturelint.lint.notebook import is_notebook
from capturelint.lint.patterns import Patterns
from capturelint.lint.project import Project
from capturelint.lint.reader import Reader
from capturelint.lint.roots import find_captures, find_roots, find_seeds
from capturelint.lint.values import marks
from capturelint.lint.values.accounts import Accounts
from capturelint.lint.values.analysis import Analysis
from capturelint.lint.values.surroundings import Surroundings
from capturelint.lint.ways import start_of
from capturelint.names import FileFacts
from capturelint.preset import Preset, load_preset, presets_for
from capturelint.rule import Trait

_GIVEN = "given to make_graphed_callables or to torch.compile with a graph mode"
_SITE = "holds `with torch.cuda.graph(...)`"

Wanted = Callable[[set[str], set[Trait]], bool]
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Assembled:
    """Files tied together, of which nothing has been evaluated yet. `presets` are those in use."""

    linked: Linked
    presets: tuple[Preset, ...]
    surroundings: Surroundings


def assemble(
    paths: Sequence[Path],
    problems: Sequence[Problem],
    config: Config,
    wanted: Wanted,
    *,
    reader: Reader,
    progress: Progress | None = None,
    named: Sequence[Path] = (),
    accounts: Accounts | None = None,
) -> Assembled:
    """Read and link files. `named` are those given one by one, not by a folder.

    `accounts` are for the evaluation of what is captured.
    """
    jobs = config.jobs or os.cpu_count() or 1
    facts, unread = reader.index(paths, jobs=jobs, progress=progress)
    project = Project(reader.load, roots=roots_of(config.root))
    project.homes.begin(facts)
    # No file imports a notebook, so one does not take the name of a module beside it.
    for one in sorted(facts, key=lambda one: is_notebook(one.path)):
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
    uncaptured = [pattern for preset in presets for pattern in preset.uncaptured]
    eager = Patterns([*config.eager, *config.step, *uncaptured], project)
    thorough = config.scope is Scope.ALL
    surroundings = Surroundings(project, presets, eager.match, thorough=thorough)
    linked = Linked(
        project,
        reader,
        Analysis(project, surroundings, reader, wanted, accounts=accounts),
        own=own,
        problems=[*problems, *unread],
        presets=presets,
        files=len(paths),
        commented=[shown_path(one.path) for one in facts if one.has_comments],
    )
    linked.target = config.target_torch
    return Assembled(linked, tuple(presets), surroundings)


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
    accounts: Accounts | None = None,
) -> Linked:
    """Read, link and evaluate files. `named` are those given one by one, not by a folder.

    `store` keeps facts from run to run; `seen` is filled with what was read, `accounts` with what
    was evaluated. `texts` are taken for those of files.
    """
    reader = Reader(config.root, stdin, store=store, seen=seen, texts=texts)
    assembled = assemble(
        paths,
        problems,
        config,
        wanted,
        reader=reader,
        progress=progress,
        named=named,
        accounts=accounts,
    )
    linked, presets = assembled.linked, assembled.presets
    project, analysis = linked.project, linked.analysis
    if progress is not None:
        progress(f"following {len(project.functions)} functions")
    known = len(project.files)
    configured = Patterns(
        [*config.roots, *(p for preset in presets for p in preset.roots)], project
    )
    roots = dict(find_roots(project, configured))
    marks.evaluate(analysis, roots, find_captures(project))
    _note_captured(linked, roots)
    if config.scope is not Scope.CAPTURED:
        linked.around = look_around(analysis, presets, config, reader, wanted)
    if config.scope is Scope.ALL:
        assembled.surroundings.include_everything(linked.captured)
        marks.evaluate(analysis, find_seeds(project, linked.is_own, linked.captured), ())
    linked.is_settled = len(project.files) == known and not project.is_circular
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
