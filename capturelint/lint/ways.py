"""The way from where captured code, or a step, starts to a function that it reaches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from capturelint.finding import Step
from capturelint.lint.symbols import Function
from capturelint.lint.values.analysis import Analysis
from capturelint.source import line_shift


@dataclass(frozen=True, slots=True)
class Way:
    """The way to function `index`. `shown` gives a path as printed."""

    analysis: Analysis
    index: int
    shown: Callable[[str], str]

    def steps(self, line: int | None) -> tuple[Step, ...]:
        """Return the functions on the way. `line` is that of the finding in the last, if any."""
        found: list[Step] = []
        seen = set()
        current: int | None = self.index
        while current is not None and current not in seen:
            seen.add(current)
            function = self.analysis.project.functions[current]
            path = self.shown(function.file.path)
            found.append(Step(path, line or first_line(function), function.facts.qualname))
            state = self.analysis.states.get(current)
            came = None if state is None else state.chain
            current = None
            if came is not None:
                current = came[0]
                line = came[1] + line_shift(self.analysis.project.functions[came[0]].facts)
        return tuple(reversed(found))


def first_line(function: Function) -> int:
    """Return the line of a function's `def`; a module's own code starts with its first."""
    return max(function.facts.line, 1)


def start_of(analysis: Analysis, index: int) -> int:
    """Return where the way to a function starts."""
    seen = set()
    while index not in seen:
        seen.add(index)
        state = analysis.states.get(index)
        if state is None or state.chain is None:
            break
        index = state.chain[0]
    return index
