"""Code that runs before capture: constructors, factories, constants of modules and classes."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from capturelint.kind import UNKNOWN, Kind, Ref, Value
from capturelint.lint.symbols import Class, Function
from capturelint.lint.values import statements
from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.expressions import EVALUATORS
from capturelint.lint.values.frame import Frame
from capturelint.names import FileFacts

if TYPE_CHECKING:
    from capturelint.lint.values.analysis import Analysis

_MOST_SETUPS = 40_000
# With a new lambda in each call, a function that calls itself is never called alike twice.
_MOST_WAYS = 400

Stores = dict[str, Value]
Key = tuple[int, tuple[tuple[str, Value], ...]]


class Setup:
    """Evaluates eager code, each function once for each set of telling arguments, up to a limit."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._done: dict[Key, tuple[Value, Stores]] = {}
        self._ways: Counter[int] = Counter()
        self._running: set[Key] = set()
        self._constants: dict[tuple[str, str], Value] = {}
        # Whether a function under way was asked for meanwhile: an answer that rests on what is not
        # finished must not be remembered.
        self.met_cycle = False

    @property
    def is_running(self) -> bool:
        """Return whether a function is being evaluated."""
        return bool(self._running)

    def stores(self, index: int) -> Stores:
        """Return what a function, run eagerly, stores on `self`."""
        return self.evaluate(self._analysis.project.functions[index], {})[1]

    def call(self, function: Function, ref: Ref, arguments: Arguments) -> Value:
        """Return what a function, called eagerly, gives."""
        entrance = self._analysis.entrance
        declared = entrance.declared_return(function)
        is_plain = declared.element is None and declared.items is None and not declared.refs
        if is_plain and declared.kind in (Kind.HOST_VALUE, Kind.SHAPE):
            return declared
        given = entrance.given(function, ref, arguments)
        result = self.evaluate(function, {k: v for k, v in given.items() if _is_telling(v)})[0]
        is_vague = result.kind is Kind.UNKNOWN or (result.is_none and declared != UNKNOWN)
        return declared if is_vague and not result.refs else result

    def module_constant(self, file: FileFacts, name: str) -> Value:
        """Return the value of a name bound once at module level."""
        return self._constant((file.module, name), file, file.assigns[name])

    def class_constant(self, one: Class, source: str) -> Value:
        """Return the value of a class-level assignment, given as source text."""
        return self._constant((f"{one.file.module}:{one.index}", source), one.file, source)

    def _constant(self, key: tuple[str, str], file: FileFacts, source: str) -> Value:
        found = self._constants.get(key)
        if found is not None:
            return found
        self._constants[key] = UNKNOWN
        if source:
            try:
                node = ast.parse(source, mode="eval").body
                frame = Frame(self._analysis, file, None, EVALUATORS, captured=False)
                self._constants[key] = frame.evaluate(node)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                # Too odd to be a constant: what it is stays unknown.
                return UNKNOWN
        return self._constants[key]

    def is_known_constant(self, file: FileFacts, name: str) -> bool:
        """Return whether a name of a module has been worked out, or is being."""
        return (file.module, name) in self._constants

    def evaluate(self, function: Function, given: Stores) -> tuple[Value, Stores]:
        """Return what a function, run eagerly, gives and stores on `self`."""
        analysis = self._analysis
        if self._ways[function.index] >= _MOST_WAYS:
            given = {}
        key: Key = (function.index, tuple(sorted(given.items(), key=lambda item: item[0])))
        found = self._done.get(key)
        if found is not None:
            self.met_cycle = self.met_cycle or key in self._running
            return found
        node = analysis.entrance.body_of(function)
        if node is None or not analysis.may_go_deeper or len(self._done) > _MOST_SETUPS:
            return UNKNOWN, {}
        self._done[key] = (UNKNOWN, {})
        self._ways[function.index] += 1
        self._running.add(key)
        frame = analysis.entrance.opened(function, node, given, captured=False, is_setup=True)
        accounts = analysis.accounts
        if accounts is not None:
            frame.account = accounts.of_setup(function, given)
        try:
            with analysis.deeper():
                frame.falls_through = statements.run_block(frame, node.body)
        except RecursionError:
            analysis.failures[function.index] = "is nested too deeply to analyse"
            if frame.account is not None:
                frame.account.is_unsaid = True
        finally:
            self._running.discard(key)
        found = self._done[key] = (frame.result(), frame.stores)
        if accounts is not None and frame.account is not None:
            accounts.close(frame.account, *found)
        return found


def _is_telling(value: Value) -> bool:
    """Return whether an argument can change what a factory makes."""
    if value.refs or value.kind is Kind.MODULE or value.constant in ((True,), (False,)):
        return True
    return value.element is not None and bool(value.element.refs)
