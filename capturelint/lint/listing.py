"""The captured regions of a project, the steps around them, and what each of them reaches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from capturelint.config import Config, Scope
from capturelint.lint.engine import Progress, linked_files
from capturelint.lint.linked import Linked
from capturelint.lint.result import Listing, Reached, RootReport
from capturelint.lint.unmatched import unmatched
from capturelint.lint.ways import first_line, start_of


def list_roots(
    paths: Sequence[Path], config: Config, *, progress: Progress | None = None
) -> Listing:
    """Return the roots of the files under `paths` and what each one reaches."""
    linked = linked_files(
        paths, config, lambda _names, _traits: False, stdin=None, progress=progress
    )
    found: list[RootReport] = []
    found += _reports(linked, linked.captured, linked.roots, Scope.CAPTURED)
    around = linked.around
    if around is not None:
        functions = [state.index for state in linked.step_states()]
        starts = {index: why for index, why in around.starts.items() if linked.is_own(index)}
        found += _reports(linked, functions, starts, Scope.STEP)
    return Listing(tuple(map(linked.cells.root, found)), *unmatched(linked, config, paths))


def _reports(
    linked: Linked, functions: Iterable[int], starts: Mapping[int, str], scope: Scope
) -> Iterator[RootReport]:
    """Yield a report about each start, with those of `functions` that are first reached from it."""
    is_step = scope is Scope.STEP
    reached: dict[int, list[Reached]] = {}
    for index in functions:
        way = linked.way_to(index, is_step=is_step)
        assert way is not None, "functions of the region are reached"
        start = start_of(way.analysis, index)
        if start != index:
            function = linked.project.functions[index]
            path = linked.shown(function.file.path)
            one = Reached(function.full_name, path, first_line(function), way.steps(None))
            reached.setdefault(start, []).append(one)
    for index, why in starts.items():
        function = linked.project.functions[index]
        path, line = linked.shown(function.file.path), first_line(function)
        of_it = tuple(reached.get(index, ()))
        yield RootReport(function.full_name, path, line, why, of_it, scope=scope)
