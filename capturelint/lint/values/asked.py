"""What the evaluation of a function asks of the rest of the project; its account notes each question."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from capturelint.kind import UNKNOWN, Ref, Role, Value
from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.frame import Frame
from capturelint.lint.values.modes import handed
from capturelint.names import FileFacts

if TYPE_CHECKING:
    from capturelint.lint.values.analysis import Analysis


class Asked:
    """Answers by evaluating what is asked for."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    def call(self, frame: Frame, ref: Ref, arguments: Arguments, node: ast.AST | None) -> Value:
        """Return what calling a function of the project gives."""
        account, arguments = frame.account, handed(frame, arguments)
        if account is None:
            return self._analysis.call(frame, ref, arguments, node)
        line = getattr(node, "lineno", 0)
        question = account.call(ref, arguments, line, captured=frame.captured)
        found = self._analysis.call(frame, ref, arguments, node)
        account.note(question, found)
        return found

    def stored(self, frame: Frame, index: int, name: str) -> Value | None:
        """Return what the code of a class stores in an attribute, None if nothing is known."""
        attributes, account = self._analysis.attributes, frame.account
        if account is None:
            return attributes.stored(index, name)
        question = account.read(index, name, is_known=attributes.is_known(index, name))
        found = attributes.stored(index, name)
        account.note(question, found)
        return found

    def constant(self, frame: Frame, file: FileFacts, name: str) -> Value:
        """Return the value of a name bound once at module level."""
        setup, account = self._analysis.setup, frame.account
        if account is None:
            return setup.module_constant(file, name)
        is_known = setup.is_known_constant(file, name)
        question = account.constant(file.module, name, is_known=is_known)
        found = setup.module_constant(file, name)
        account.note(question, found)
        return found

    def bind(self, frame: Frame, ref: Ref, arguments: Arguments) -> None:
        """Note what `functools.partial` binds, without calling."""
        account = frame.account
        if account is not None:
            bound = account.call(ref, arguments, 0, captured=frame.captured, is_bound=True)
            account.note(bound, None)
        self._analysis.note_arguments(frame, ref, arguments)

    def graph(self, frame: Frame, given: Value, sample: Value = UNKNOWN) -> None:
        """Make roots of what is given to `make_graphed_callables` or compiled with CUDA graphs.

        `given`: one callable, or a tuple of several. `sample`: a tuple of arguments, or one of such
        tuples for several; lambdas are evaluated with these, since they have no annotations.
        """
        if frame.account is not None:
            frame.account.note(frame.account.graphed((given,)), None)
        samples = sample.items or ()
        self._graph_one(frame, given, samples)
        for number, item in enumerate(given.items or ()):
            inner = samples[number].items if number < len(samples) else None
            self._graph_one(frame, item, inner or ())

    def _graph_one(self, frame: Frame, given: Value, sample: Sequence[Value]) -> None:
        for ref in given.refs:
            if ref.at < 0:
                self._analysis.graph_lambda(frame, ref, Arguments(tuple(sample)))
                continue
            is_function = ref.role in (Role.FUNCTION, Role.METHOD)
            index = ref.at if is_function else self._analysis.project.method(ref.at, "forward")
            if index >= 0 and (is_function or ref.role is Role.INSTANCE):
                self._analysis.add_root(index)
