"""The captured regions of a project and how each captured function is reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from capturelint.config import Scope
from capturelint.finding import Step
from capturelint.report.json import dumped, steps
from capturelint.report.place import one_line
from capturelint.report.style import Style
from capturelint.report.text import NO_ROOTS, counted

if TYPE_CHECKING:
    from capturelint.lint.result import Reached, RootReport


def render_text(roots: Sequence[RootReport], *, color: bool, reached: bool) -> str:
    """Return roots by file, then a summary line. `reached`: also list what each one reaches."""
    style = Style(color)
    ordered = sorted(roots, key=lambda root: (root.path, root.cell or 0, root.line, root.function))
    lines: list[str] = []
    for path, group in groupby(ordered, key=lambda root: root.path):
        lines.append(style.strong(one_line(path)))
        for root in group:
            lines += _root(root, reached=reached)
    if not _of(roots, Scope.CAPTURED):
        lines.append(style.loud(NO_ROOTS))
    lines.append(style.strong(summary(roots)))
    return "\n".join(lines)


def render_json(roots: Sequence[RootReport], *, reached: bool) -> str:
    """Return roots as one line of JSON. Without `reached` the lists of reached functions are null."""
    return dumped(
        {
            "version": 1,
            "roots": [
                {
                    "function": root.function,
                    "path": root.path,
                    "line": root.line,
                    "cell": root.cell,
                    "why": root.why,
                    "scope": root.scope.value,
                    "captured_functions": len(root.reached),
                    "reached": [_reached(one) for one in root.reached] if reached else None,
                }
                for root in roots
            ],
            "captured_functions": captured_functions(_of(roots, Scope.CAPTURED)),
        }
    )


def summary(roots: Sequence[RootReport]) -> str:
    """Return the counts in one line."""
    captured = _of(roots, Scope.CAPTURED)
    steps = _of(roots, Scope.STEP)
    files = counted(len({root.path for root in captured}), "file")
    functions = counted(captured_functions(captured), "captured function")
    parts = [f"{counted(len(captured), 'root')} in {files}, {functions}"]
    if steps:
        functions = counted(captured_functions(steps), "step function")
        parts.append(f"{counted(len(steps), 'start')} of steps, {functions}")
    return ", ".join(parts)


def _of(roots: Sequence[RootReport], scope: Scope) -> list[RootReport]:
    return [root for root in roots if root.scope is scope]


def captured_functions(roots: Sequence[RootReport]) -> int:
    """Return how many functions there are: the roots and what they reach, each once."""
    places = {(root.path, root.cell, root.line, root.function) for root in roots}
    for root in roots:
        places.update((one.path, one.cell, one.line, one.function) for one in root.reached)
    return len(places)


def _root(root: RootReport, *, reached: bool) -> Iterator[str]:
    reach = f"; reaches {counted(len(root.reached), 'function')}" if root.reached else ""
    kind = "each step: " if root.scope is Scope.STEP else ""
    yield f"  {_line(root)}: {root.function}: {kind}{root.why}{reach}"
    if reached:
        for one in root.reached:
            yield f"      {one.function} ({one_line(one.path)}:{_line(one)})"
            if one.chain:
                way = " -> ".join(f"{step.function}:{_line(step)}" for step in one.chain)
                yield f"        by {way}"


def _reached(one: Reached) -> dict[str, object]:
    return {
        "function": one.function,
        "path": one.path,
        "line": one.line,
        "cell": one.cell,
        "chain": steps(one.chain),
    }


def _line(one: RootReport | Reached | Step) -> str:
    return f"{one.line}" if one.cell is None else f"cell {one.cell}:{one.line}"
