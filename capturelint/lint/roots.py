"""Where captured code starts."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator

from capturelint.lint.managers import find_entering
from capturelint.lint.patterns import Patterns
from capturelint.lint.project import Project
from capturelint.lint.symbols import Class, Function
from capturelint.names import GRAPH_MODES


def find_roots(project: Project, configured: Patterns) -> Iterator[tuple[int, str]]:
    """Yield each function that is a root by itself, with why.

    Roots that only evaluation finds (what is given to `make_graphed_callables`, or compiled with a
    graph mode by a call) are not among them.
    """
    for function in project.functions:
        why = _why(project, function, configured)
        if why:
            yield function.index, why


def find_sites(project: Project) -> Iterator[int]:
    """Yield the functions that hold a capture site by themselves, outermost only."""
    for function in project.functions:
        if function.facts.has_site and function.parent < 0:
            yield function.index


def find_captures(project: Project) -> list[int]:
    """Return the functions that may capture: those with a site, and what enters one by a `with`."""
    return list(dict.fromkeys((*find_sites(project), *find_entering(project))))


def find_seeds(
    project: Project, is_own: Callable[[int], bool], captured: Container[int]
) -> list[int]:
    """Return all checked functions that are not captured, outermost first, for `--scope all`.

    Constructors of modules are left out.
    """
    return [
        function.index
        for function in project.functions
        if is_own(function.index)
        and function.index not in captured
        and not (
            function.facts.name == "__init__"
            and function.owner >= 0
            and project.is_module(function.owner)
        )
    ]


def _why(project: Project, function: Function, configured: Patterns) -> str:
    facts = function.facts
    if facts.marker == "captured":
        return "marked `# capturelint: captured`"
    for decorator in facts.decorators:
        name, _, mode = decorator.partition(":")
        if mode in GRAPH_MODES and name.endswith("compile"):
            return f"compiled with {'backend' if mode == 'cudagraphs' else 'mode'} {mode}"
    if function.owner >= 0:
        owner = project.classes[function.owner]
        if (
            owner.facts.marker == "captured"
            and facts.marker != "eager"
            and _is_entry(function, owner)
        ):
            return "its class is marked `# capturelint: captured`"
        if facts.name == "forward" and project.is_module(function.owner):
            return "forward of an nn.Module"
        if facts.name == "__call__" and project.is_module(function.owner):
            return "__call__ of an nn.Module"
    is_inner = function.parent >= 0 and configured.match(project.functions[function.parent])
    # What is defined inside a root is reached from it, with what it closes over.
    return "named in `roots`" if configured.match(function) and not is_inner else ""


def _is_entry(function: Function, owner: Class) -> bool:
    """Return whether a method of a marked class is captured: its call, or, without one, all of it."""
    entries = {"forward", "__call__"} & owner.facts.methods.keys()
    if entries:
        return function.facts.name in entries
    return function.facts.name not in ("__init__", "__new__", "__post_init__")
