"""Entering a function: its signature, its frame, what it closes over."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from capturelint.kind import UNKNOWN, Kind, Ref, Role, Value
from capturelint.lint.symbols import Function
from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.expressions import EVALUATORS
from capturelint.lint.values.frame import Frame
from capturelint.lint.values.join import UNFINISHED
from capturelint.lint.values.kept import RawSpan
from capturelint.lint.values.parameters import Signature, bound, entry_values, signature_of
from capturelint.lint.values.trees import Trees
from capturelint.names import FileFacts
from capturelint.rule import Trait
from capturelint.source import FunctionNode

if TYPE_CHECKING:
    from capturelint.lint.values.analysis import Analysis

# Lambdas that make lambdas and call each twice would run without end.
_MOST_RUNS = 100


class _Home(NamedTuple):
    """Of the frame in which a function or lambda was made, what is needed when it is called."""

    file: FileFacts
    function: Function | None
    self_name: str
    values: dict[RawSpan, Value]
    names: set[str]
    traits: set[Trait]
    closure: dict[str, Value]
    env: dict[str, Value]

    @classmethod
    def of(cls, frame: Frame) -> _Home:
        return cls(
            frame.file,
            frame.function,
            frame.self_name,
            frame.values,
            frame.names,
            frame.traits,
            frame.closure,
            frame.env,
        )


class Entrance:
    """Makes the frames of functions and lambdas, and remembers what calls need of them."""

    def __init__(self, analysis: Analysis, trees: Trees) -> None:
        self.body_of = trees.body_of
        self._head_of = trees.head_of
        self._analysis = analysis
        self._signatures: dict[int, Signature | None] = {}
        self._declared: dict[int, Value] = {}
        self._closures: dict[int, _Home] = {}
        self._lambdas: list[tuple[_Home, ast.Lambda]] = []
        self._called: dict[tuple[int, Arguments, bool], Value] = {}
        self._runs: Counter[ast.Lambda] = Counter()
        self._lines: dict[str, dict[int, Ref]] = {}

    def opened(
        self,
        function: Function,
        node: FunctionNode,
        given: dict[str, Value],
        *,
        captured: bool,
        is_root: bool = False,
        is_setup: bool = False,
    ) -> Frame:
        """Return a frame with the parameters of a function bound. `given`: what callers pass."""
        frame = Frame(self._analysis, function.file, function, EVALUATORS, captured=captured)
        home = self._closures.get(function.index)
        if home is not None:
            frame.closure = {**home.closure, **home.env}
            frame.self_name = home.self_name
        signature = self._known_signature(function, node)
        frame.parameters = signature.names
        frame.env.update(
            entry_values(
                self._analysis.surroundings,
                function,
                node,
                given,
                is_root=is_root,
                is_setup=is_setup,
                signature=signature,
            )
        )
        frame.kept.inputs.update(frame.env)
        self._bind_self(frame, function, node)
        return frame

    def given(self, function: Function, ref: Ref, arguments: Arguments) -> dict[str, Value]:
        """Return the parameters that a call of `ref` sets."""
        signature = self.signature(function)
        if signature is None:
            return {}
        # `forward` of an autograd function is static, and its first parameter is the context.
        is_static = "staticmethod" in function.facts.decorators and function.facts.name != "forward"
        skip_first = ref.role is Role.METHOD and not is_static
        return bound(signature, arguments, skip_first=skip_first)

    def declared_return(self, function: Function) -> Value:
        """Return what the annotation of a function says it returns."""
        found = self._declared.get(function.index)
        if found is None:
            signature = self.signature(function)
            returns = None if signature is None else signature.returns
            found = self._analysis.surroundings.annotation(returns, function.file.module)
            self._declared[function.index] = found
            if signature is not None and isinstance(returns, ast.expr):
                # The tree takes kilobytes; only records need what it says, as text.
                signature.returns = None if self._analysis.accounts is None else ast.dump(returns)
        return found

    def known_signature(self, function: Function) -> Signature | None:
        """Return the signature of a function if it has been asked for."""
        return self._signatures.get(function.index)

    def signed(self) -> Iterable[int]:
        """Return the functions whose signatures have been asked for."""
        return self._signatures

    def signature(self, function: Function) -> Signature | None:
        """Return the signature of a function, None if its file changed meanwhile."""
        if function.index not in self._signatures:
            node = self._head_of(function)
            self._signatures[function.index] = None if node is None else signature_of(node)
        return self._signatures[function.index]

    def call_lambda(self, frame: Frame, index: int, arguments: Arguments) -> Value:
        """Return what calling a lambda gives."""
        key = (index, arguments, frame.live)
        if key not in self._called:
            node = self._lambdas[-index - 1][1]
            if not self._analysis.may_go_deeper or self._runs[node] >= _MOST_RUNS:
                return UNKNOWN
            self._runs[node] += 1
            # A lambda that calls itself gives what its other arms say.
            self._called[key] = UNFINISHED
            inner, body = self._lambda_frame(frame, index, arguments)
            if frame.captured:
                self._analysis.note_region(inner.function)
            with self._analysis.deeper():
                self._called[key] = inner.evaluate(body)
        return self._called[key]

    def _lambda_frame(
        self, frame: Frame, index: int, arguments: Arguments
    ) -> tuple[Frame, ast.expr]:
        """Return a frame for a lambda called from `frame`, and the lambda's body."""
        home, node = self._lambdas[-index - 1]
        inner = Frame(self._analysis, home.file, home.function, EVALUATORS, captured=False)
        inner.self_name = home.self_name
        inner.captured, inner.live = frame.captured, frame.live
        # What a lambda does is noted where it stands.
        inner.values, inner.names, inner.traits = home.values, home.names, home.traits
        inner.closure = {**home.closure, **home.env}
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
        inner.env = dict.fromkeys(names, UNKNOWN)
        inner.env.update(zip(names, arguments.positional, strict=False))
        inner.env.update({k: v for k, v in arguments.keywords if k in inner.env})
        return inner, node.body

    def lambda_ref(self, frame: Frame, node: ast.Lambda) -> Ref:
        """Return the reference of a lambda made in `frame`."""
        if frame.account is not None:
            frame.account.is_unsaid = True
        frame.has_lambdas = True
        self._lambdas.append((_Home.of(frame), node))
        return Ref(Role.FUNCTION, -len(self._lambdas))

    def defined(self, frame: Frame, node: FunctionNode | ast.ClassDef) -> Value:
        """Return the value of a `def` or `class` inside a function, and remember what it closes over."""
        if frame.account is not None:
            # What is defined inside sees names of the frame, whatever they are by then.
            frame.account.is_unsaid = True
        module = frame.file.module
        if module not in self._lines:
            self._lines[module] = self._definitions(module)
        shift = self._analysis.surroundings.line_shift(frame.function)
        ref = self._lines[module].get(node.lineno + shift)
        if ref is None:
            return UNKNOWN
        if ref.role is Role.FUNCTION:
            self._closures[ref.at] = _Home.of(frame)
        return Value(Kind.HOST_VALUE, refs=(ref,))

    def _definitions(self, module: str) -> dict[int, Ref]:
        """Return the functions and classes of a file by the line of their `def` or `class`."""
        project = self._analysis.project
        file = project.files[module]
        first, first_class = project.first_function[module], project.first_class[module]
        found = {f.line: Ref(Role.FUNCTION, first + n) for n, f in enumerate(file.functions)}
        for offset, one in enumerate(file.classes):
            found[one.line] = Ref(Role.CLASS, first_class + offset)
        return found

    def _known_signature(self, function: Function, node: FunctionNode) -> Signature:
        known = self._signatures.get(function.index)
        if known is None:
            known = self._signatures[function.index] = signature_of(node)
        return known

    def _bind_self(self, frame: Frame, function: Function, node: FunctionNode) -> None:
        if function.owner < 0 or "staticmethod" in function.facts.decorators:
            return
        parameters = [*node.args.posonlyargs, *node.args.args]
        if not parameters:
            return
        frame.self_name = parameters[0].arg
        is_class = "classmethod" in function.facts.decorators
        role = Role.CLASS if is_class else Role.INSTANCE
        is_module = self._analysis.project.is_module(function.owner) and not is_class
        kind = Kind.MODULE if is_module else Kind.HOST_VALUE
        frame.env[frame.self_name] = Value(kind, refs=(Ref(role, function.owner),))
