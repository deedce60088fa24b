"""The pass over a whole project: from the roots through every call, until nothing changes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from capturelint.kind import NONE, UNKNOWN, Kind, Ref, Role, Value
from capturelint.lint.project import Class, Function, Project
from capturelint.lint.values import binding, statements
from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.attributes import Attributes
from capturelint.lint.values.expressions import EVALUATORS
from capturelint.lint.values.frame import Frame, RawSpan
from capturelint.lint.values.join import join, join_all, join_passed
from capturelint.lint.values.parameters import Signature, bound, entry_values, signature_of
from capturelint.lint.values.surroundings import Surroundings
from capturelint.names import FileFacts
from capturelint.rule import Trait

_DEEPEST = 20
_MOST_ROUNDS = 4
_MOST_SETUPS = 40_000

Node = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class FunctionState:
    """What the pass knows of one captured function. `chain` is who first called it, and where."""

    index: int
    is_root: bool = False
    is_site: bool = False
    params: dict[str, Value] = field(default_factory=dict)
    returns: Value = UNKNOWN
    values: dict[RawSpan, Value] = field(default_factory=dict)
    regions: list[RawSpan] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    traits: set[Trait] = field(default_factory=set)
    callers: set[int] = field(default_factory=set)
    chain: tuple[int, int] | None = None
    rounds: int = 0
    is_running: bool = False


class Analysis:
    """One run. `wanted` says whether a rule needs the values of a function with these marks."""

    def __init__(
        self,
        project: Project,
        surroundings: Surroundings,
        body_of: Callable[[Function], Node | None],
        wanted: Callable[[set[str], set[Trait]], bool],
    ) -> None:
        self.project = project
        self.surroundings = surroundings
        self.attributes = Attributes(self)
        self.states: dict[int, FunctionState] = {}
        self.failures: dict[int, str] = {}
        self._body_of = body_of
        self._wanted = wanted
        self._depth = 0
        self._queue: dict[int, None] = {}
        self._roots: list[int] = []
        self._setups: dict[
            tuple[int, tuple[tuple[str, Value], ...]], tuple[Value, dict[str, Value]]
        ] = {}
        # Setups under way, and whether one of them was asked for meanwhile: an answer that rests
        # on what is not finished must not be remembered.
        self._running: set[object] = set()
        self.met_cycle = False
        self._signatures: dict[int, Signature | None] = {}
        self._declared: dict[int, Value] = {}
        self._constants: dict[tuple[str, str], Value] = {}
        self._closures: dict[int, tuple[Frame, dict[str, Value]]] = {}
        self._lambdas: list[tuple[Frame, dict[str, Value], ast.Lambda]] = []
        self._nested: dict[str, dict[int, int]] = {}

    # -- driving

    def run(self, roots: Iterable[int], sites: Iterable[int]) -> None:
        """Evaluate the roots, the functions that hold capture sites, and all they reach."""
        for index in sites:
            self._run_site(index)
        for index in roots:
            self.add_root(index)
        # A file defines what calls after what is called: from its end, most functions are
        # evaluated once, with what their callers pass.
        while self._roots:
            self._evaluate_new(self._roots.pop())
        while self._queue:
            index = next(iter(self._queue))
            del self._queue[index]
            self._evaluate(self.states[index])
            while self._roots:
                self._evaluate_new(self._roots.pop())

    def add_root(self, index: int) -> None:
        """Make a function a root and evaluate it, unless it never runs under capture."""
        if self.surroundings.is_eager(self.project.functions[index]):
            return
        state = self._state(index)
        if not state.is_root:
            state.is_root = True
            state.chain = None
            self._roots.append(index)

    def _evaluate_new(self, index: int) -> None:
        if not self.states[index].rounds:
            self._evaluate(self.states[index])

    def add_graphed(self, values: Sequence[Value], node: ast.AST, frame: Frame) -> None:
        """Make roots of what is given to `make_graphed_callables` or compiled with CUDA graphs."""
        for value in values:
            for item in (*(value.items or ()), value):
                for ref in item.refs:
                    if ref.role in (Role.FUNCTION, Role.METHOD) and ref.index >= 0:
                        self.add_root(ref.index)
                    elif ref.role is Role.INSTANCE:
                        forward = self.project.method(ref.index, "forward")
                        if forward >= 0:
                            self.add_root(forward)

    # -- calls

    def call(self, frame: Frame, ref: Ref, arguments: Arguments, node: ast.AST | None) -> Value:
        """Return what calling a function of the project gives."""
        if ref.index < 0:
            return self._call_lambda(frame, ref.index, arguments)
        function = self.project.functions[ref.index]
        if self.surroundings.is_eager(function):
            return self._declared_return(function)
        if not frame.captured:
            return self._setup_call(function, ref, arguments)
        state = self._state(ref.index)
        if frame.function is not None and not state.is_root and state.chain is None:
            state.chain = (frame.function.index, getattr(node, "lineno", 0))
        if frame.function is not None:
            state.callers.add(frame.function.index)
        self._pass(state, function, ref, arguments)
        return self._result(state, function)

    def call_with(
        self, frame: Frame, ref: Ref, positional: tuple[Value, ...], node: ast.AST | None
    ) -> Value:
        """Call with positional values only."""
        return self.call(frame, ref, Arguments(positional), node)

    def note_arguments(self, frame: Frame, ref: Ref, arguments: Arguments) -> None:
        """Note what `functools.partial` binds, without calling."""
        if frame.captured and ref.index >= 0:
            function = self.project.functions[ref.index]
            if not self.surroundings.is_eager(function):
                self._pass(self._state(ref.index), function, ref, arguments)

    def _pass(
        self, state: FunctionState, function: Function, ref: Ref, arguments: Arguments
    ) -> None:
        signature = self._signature(function)
        if signature is None:
            return
        given = bound(signature, arguments, skip_first=self._skips_first(function, ref))
        changed = False
        for name, value in given.items():
            known = state.params.get(name)
            new = value if known is None else join_passed(known, value)
            if new != known:
                state.params[name] = new
                changed = True
        if changed and state.rounds and state.rounds < _MOST_ROUNDS:
            self._queue[state.index] = None

    def _skips_first(self, function: Function, ref: Ref) -> bool:
        return ref.role is Role.METHOD and not (
            "staticmethod" in function.facts.decorators and function.facts.name != "forward"
        )

    def _result(self, state: FunctionState, function: Function) -> Value:
        if state.rounds == 0 and not state.is_running:
            if self._depth >= _DEEPEST:
                self._queue[state.index] = None
            else:
                self._evaluate(state)
        known = state.returns
        if known.kind is Kind.UNKNOWN and not known.refs:
            return self._declared_return(function)
        return known

    def _declared_return(self, function: Function) -> Value:
        found = self._declared.get(function.index)
        if found is None:
            signature = self._signature(function)
            returns = None if signature is None else signature.returns
            found = self.surroundings.annotation(returns, function.file.module)
            self._declared[function.index] = found
        return found

    def _signature(self, function: Function) -> Signature | None:
        if function.index not in self._signatures:
            node = self._body_of(function)
            self._signatures[function.index] = None if node is None else signature_of(node)
        return self._signatures[function.index]

    def _known_signature(self, function: Function, node: Node) -> Signature:
        known = self._signatures.get(function.index)
        if known is None:
            known = self._signatures[function.index] = signature_of(node)
        return known

    def _call_lambda(self, frame: Frame, index: int, arguments: Arguments) -> Value:
        home, env, node = self._lambdas[-index - 1]
        if self._depth >= _DEEPEST:
            return UNKNOWN
        inner = Frame(self, home.file, home.function, EVALUATORS, captured=False)
        inner.self_name = home.self_name
        inner.captured, inner.live = frame.captured, frame.live
        # What a lambda does is noted where it stands.
        inner.values, inner.names, inner.traits = home.values, home.names, home.traits
        inner.closure = {**home.closure, **env}
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
        inner.env = dict.fromkeys(names, UNKNOWN)
        inner.env.update(zip(names, arguments.positional, strict=False))
        inner.env.update({k: v for k, v in arguments.keywords if k in inner.env})
        self._depth += 1
        try:
            return inner.evaluate(node.body)
        finally:
            self._depth -= 1

    # -- evaluating one function

    def _evaluate(self, state: FunctionState) -> None:
        function = self.project.functions[state.index]
        node = self._body_of(function)
        if node is None or state.is_running:
            return
        state.is_running = True
        state.rounds += 1
        self._depth += 1
        frame = self._frame(function, node, captured=not state.is_site)
        frame.env.update(
            entry_values(
                self.surroundings,
                function,
                node,
                state.params,
                is_root=state.is_root,
                signature=self._known_signature(function, node),
            )
        )
        self._bind_self(frame, function, node)
        try:
            statements.run_block(frame, node.body)
            self._keep(state, frame)
        except RecursionError:
            self.failures[state.index] = "is nested too deeply to analyse"
        finally:
            state.is_running = False
            self._depth -= 1

    def _keep(self, state: FunctionState, frame: Frame) -> None:
        state.names, state.traits = frame.names, frame.traits
        keeps = self._wanted(frame.names, frame.traits)
        state.values = frame.values if keeps else {}
        result = join_all(frame.returns) if frame.returns else NONE
        if result != state.returns:
            state.returns = result if state.rounds == 1 else join(state.returns, result)
            for caller in state.callers:
                known = self.states.get(caller)
                if known is not None and 0 < known.rounds < _MOST_ROUNDS and not known.is_running:
                    self._queue[caller] = None

    def _frame(self, function: Function, node: Node, *, captured: bool) -> Frame:
        frame = Frame(self, function.file, function, EVALUATORS, captured=captured)
        closure = self._closures.get(function.index)
        if closure is not None:
            home, env = closure
            frame.closure = {**home.closure, **env}
            frame.self_name = home.self_name
        return frame

    def _bind_self(self, frame: Frame, function: Function, node: Node) -> None:
        if function.owner < 0 or "staticmethod" in function.facts.decorators:
            return
        parameters = [*node.args.posonlyargs, *node.args.args]
        if not parameters:
            return
        frame.self_name = parameters[0].arg
        is_class = "classmethod" in function.facts.decorators
        role = Role.CLASS if is_class else Role.INSTANCE
        is_module = self.project.is_module(function.owner) and not is_class
        kind = Kind.MODULE if is_module else Kind.HOST_VALUE
        frame.env[frame.self_name] = Value(kind, refs=(Ref(role, function.owner),))

    def _run_site(self, index: int) -> None:
        state = self._state(index)
        state.is_site = True
        self._evaluate(state)
        if not state.regions:
            del self.states[index]

    def note_region(self, frame: Frame, node: ast.AST) -> None:
        """Note the body of a `with torch.cuda.graph(...)` as a captured region."""
        if frame.function is not None:
            body: list[ast.stmt] = getattr(node, "body", [])
            state = self._state(frame.function.index)
            state.regions.append(
                (body[0].lineno, 0, body[-1].end_lineno or 0, body[-1].end_col_offset or 0)
            )

    def is_site(self, frame: Frame) -> bool:
        """Return whether a frame is the evaluation of a capture site's own function."""
        function = frame.function
        return (
            function is not None
            and function.index in self.states
            and (self.states[function.index].is_site)
        )

    # -- code that runs before capture

    @property
    def is_setting_up(self) -> bool:
        """Return whether code that runs before capture is being evaluated."""
        return bool(self._running)

    def setup_stores(self, index: int) -> dict[str, Value]:
        """Return what a function, run eagerly, stores on `self`."""
        return self._setup(self.project.functions[index], {})[1]

    def _setup_call(self, function: Function, ref: Ref, arguments: Arguments) -> Value:
        declared = self._declared_return(function)
        if declared.kind in (Kind.HOST_VALUE, Kind.SHAPE) and not declared.refs:
            if declared.element is None and declared.items is None:
                return declared
        signature = self._signature(function)
        if signature is None:
            return UNKNOWN
        given = bound(signature, arguments, skip_first=self._skips_first(function, ref))
        result = self._setup(function, {k: v for k, v in given.items() if _is_telling(v)})[0]
        return declared if result.kind is Kind.UNKNOWN and not result.refs else result

    def _setup(self, function: Function, given: dict[str, Value]) -> tuple[Value, dict[str, Value]]:
        key = (function.index, tuple(sorted(given.items(), key=lambda item: item[0])))
        found = self._setups.get(key)
        if found is not None:
            if key in self._running:
                self.met_cycle = True
            return found
        node = self._body_of(function)
        if node is None or self._depth >= _DEEPEST or len(self._setups) > _MOST_SETUPS:
            return UNKNOWN, {}
        self._setups[key] = (UNKNOWN, {})
        self._running.add(key)
        frame = self._frame(function, node, captured=False)
        frame.env.update(
            entry_values(
                self.surroundings,
                function,
                node,
                given,
                is_root=False,
                is_setup=True,
                signature=self._known_signature(function, node),
            )
        )
        self._bind_self(frame, function, node)
        self._depth += 1
        try:
            statements.run_block(frame, node.body)
        except RecursionError:
            self.failures[function.index] = "is nested too deeply to analyse"
        finally:
            self._depth -= 1
            self._running.discard(key)
        result = join_all(frame.returns) if frame.returns else NONE
        self._setups[key] = (result, frame.stores)
        return self._setups[key]

    # -- small questions of the evaluators

    def bind(self, frame: Frame, target: ast.expr, value: Value) -> None:
        """Bind a comprehension's target."""
        binding.bind(frame, target, value)

    def module_constant(self, file: FileFacts, name: str) -> Value:
        """Return the value of a name bound once at module level."""
        return self._constant_of((file.module, name), file, file.assigns[name])

    def class_constant(self, one: Class, source: str) -> Value:
        """Return the value of a class-level assignment, given as source text."""
        return self._constant_of((f"{one.file.module}:{one.index}", source), one.file, source)

    def _constant_of(self, key: tuple[str, str], file: FileFacts, source: str) -> Value:
        found = self._constants.get(key)
        if found is not None:
            return found
        self._constants[key] = UNKNOWN
        if source:
            try:
                node = ast.parse(source, mode="eval").body
                frame = Frame(self, file, None, EVALUATORS, captured=False)
                self._constants[key] = frame.evaluate(node)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                pass
        return self._constants[key]

    def nested_function(self, frame: Frame, node: Node) -> Value:
        """Return the value of a `def` inside a function, and remember what it closes over."""
        module = frame.file.module
        if module not in self._nested:
            first = self.project.first_function[module]
            lines = {f.line: first + offset for offset, f in enumerate(frame.file.functions)}
            self._nested[module] = lines
        shift = self.surroundings.line_shift(frame.function)
        index = self._nested[module].get(node.lineno + shift)
        if index is None:
            return UNKNOWN
        self._closures[index] = (frame, frame.env)
        return Value(Kind.HOST_VALUE, refs=(Ref(Role.FUNCTION, index),))

    def lambda_ref(self, frame: Frame, node: ast.Lambda) -> Ref:
        """Return the reference of a lambda made in `frame`."""
        self._lambdas.append((frame, frame.env, node))
        return Ref(Role.FUNCTION, -len(self._lambdas))

    def guard(self, name: str) -> bool | None:
        """Return the answer that a call of this name has while capturing, if it has only one."""
        return self.surroundings.guard(name)

    def fixed_attribute(self, name: str) -> bool | None:
        """Return the value that an attribute or global of this name has while capturing."""
        return self.surroundings.fixed_attribute(name)

    def is_host_name(self, name: str) -> bool:
        """Return whether names like this hold data on the host by convention."""
        return self.surroundings.is_host_name(name)

    def is_escape_context(self, name: str) -> bool:
        """Return whether the body of `with <name>(...)` is never captured."""
        return self.surroundings.is_escape_context(name)

    def default_place(self, frame: Frame) -> Kind:
        """Return where a tensor is made without `device=`."""
        return Kind.HOST_TENSOR if frame.captured else self.surroundings.setup_place

    def _state(self, index: int) -> FunctionState:
        state = self.states.get(index)
        if state is None:
            state = self.states[index] = FunctionState(index)
        return state


def _is_telling(value: Value) -> bool:
    """Return whether an argument can change what a factory makes."""
    if value.refs or value.kind is Kind.MODULE:
        return True
    return value.element is not None and bool(value.element.refs)
