"""Functions that may capture by a context manager of the project, told by names alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from capturelint.lint.entered import ANY
from capturelint.lint.project import Project
from capturelint.lint.symbols import Function


def find_entering(project: Project) -> Iterator[int]:
    """Yield functions, outermost only, that enter what holds a capture site or enters one itself."""
    inside = [one for one in project.functions if one.facts.enters]
    names = _capturing(project, inside)
    for function in inside:
        if _enters(function, names):
            outermost = function
            while outermost.parent >= 0:
                outermost = project.functions[outermost.parent]
            yield outermost.index


def _capturing(project: Project, inside: Collection[Function]) -> frozenset[str]:
    """Return the names of functions and classes that may capture where they are entered."""
    names: set[str] = set()
    pending = [one for one in project.functions if one.facts.has_site]
    while pending:
        new = {name for one in pending for name in _entered_as(project, one)} - names
        names |= new
        pending = [one for one in inside if _enters(one, new)] if new else []
    return frozenset(names)


def _entered_as(project: Project, function: Function) -> Iterator[str]:
    """Yield by what a function is entered: its own name, and those of its class and of its subclasses."""
    if function.parent < 0:
        yield function.facts.name
        if function.owner >= 0 and project.method(function.owner, "__enter__") >= 0:
            for at in (function.owner, *project.subclasses(function.owner)):
                yield project.classes[at].facts.name


def _enters(function: Function, names: Collection[str]) -> bool:
    file = function.file
    for name in function.facts.enters:
        if name in names or file.imports.get(name, ("", None))[1] in names:
            return True
    if ANY not in function.facts.enters:
        return False
    imported = (name for _, name in file.imports.values())
    return any(name in names for name in (*imported, *file.top_classes, *file.top_functions))
