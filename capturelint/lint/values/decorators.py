"""The functions that decorators put around a function: they run wherever it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from capturelint.kind import Ref, Role, Value
from capturelint.lint.symbols import Function
from capturelint.lint.values.arguments import NO_ARGUMENTS

if TYPE_CHECKING:
    from capturelint.lint.values.analysis import Analysis


class Decorators:
    """Wrappers by decorator, each decorator of the project evaluated once."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._wrappers: dict[tuple[str, str], tuple[int, ...]] = {}

    def wrappers(self, function: Function) -> list[int]:
        """Return the functions that the decorators of `function` return in its place."""
        found: list[int] = []
        for name in function.facts.decorators:
            key = (function.file.module, name.partition(":")[0])
            if key not in self._wrappers:
                self._wrappers[key] = self._of(*key)
            found += self._wrappers[key]
        eager, functions = self._analysis.surroundings.is_eager, self._analysis.project.functions
        return [index for index in found if not eager(functions[index])]

    def _of(self, module: str, name: str) -> tuple[int, ...]:
        project = self._analysis.project
        ref = project.resolve(module, name).ref
        if ref is None or ref.role is not Role.FUNCTION:
            return ()
        made = self._nested(self._called(ref))
        # A decorator with arguments returns the decorator proper, which returns the wrapper.
        inner = [wrapper for one in made for wrapper in self._nested(self._called(one))]
        return tuple(dict.fromkeys(one.at for one in inner or made))

    def _called(self, ref: Ref) -> Value:
        function = self._analysis.project.functions[ref.at]
        return self._analysis.setup.call(function, ref, NO_ARGUMENTS)

    def _nested(self, value: Value) -> list[Ref]:
        functions = self._analysis.project.functions
        return [
            ref
            for ref in value.refs
            if ref.role is Role.FUNCTION and ref.at >= 0 and functions[ref.at].parent >= 0
        ]
