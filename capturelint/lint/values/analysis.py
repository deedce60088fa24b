"""The pass over a whole project: from the roots through every call, until nothing changes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence

from capturelint.kind import UNKNOWN, Ref, Value
from capturelint.lint.project import Project
from capturelint.lint.symbols import Function
from capturelint.lint.values import binding, changing, modes, outcome, statements
from capturelint.lint.values.accounts import Accounts
from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.asked import Asked
from capturelint.lint.values.attributes import Attributes
from capturelint.lint.values.bars import only_loop
from capturelint.lint.values.changes import Changes
from capturelint.lint.values.decorators import Decorators
from capturelint.lint.values.depth import Depth
from capturelint.lint.values.entrance import Entrance
from capturelint.lint.values.frame import Frame
from capturelint.lint.values.join import UNFINISHED, join_passed
from capturelint.lint.values.setup import Setup
from capturelint.lint.values.state import FunctionState
from capturelint.lint.values.surroundings import Surroundings
from capturelint.lint.values.trees import Trees
from capturelint.rule import Trait
from capturelint.source import line_shift

_MOST_ROUNDS = 4


class Analysis(Depth):
    """One run. `wanted`: whether a rule needs a function's values; `returns`: what is left out gives."""

    # What a frame asks for, which its own module cannot import.
    bind = staticmethod(binding.bind)
    passed_on = staticmethod(changing.passed_on)

    def __init__(
        self,
        project: Project,
        surroundings: Surroundings,
        trees: Trees,
        wanted: Callable[[set[str], set[Trait]], bool],
        *,
        returns: Mapping[int, Value] | None = None,
        accounts: Accounts | None = None,
    ) -> None:
        super().__init__()
        self.project = project
        self.surroundings = surroundings
        self.asked = Asked(self)
        self.accounts = accounts
        self.attributes = Attributes(self)
        self.states: dict[int, FunctionState] = {}
        self.failures: dict[int, str] = {}
        self.changes = Changes(project)
        self.entrance = Entrance(self, trees)
        self.setup = Setup(self)
        self._decorators = Decorators(self)
        self._wanted = wanted
        self._returns = returns or {}
        self._queue: dict[int, None] = {}
        self._roots: list[int] = []

    def run(self, roots: Iterable[int], sites: Iterable[int]) -> None:
        """Evaluate the roots, the functions that hold capture sites, and all they reach."""
        self._run_sites(list(sites))
        for index in roots:
            self.add_root(index)
        # A file defines what calls after what is called: from its end, most functions are
        # evaluated once, with what their callers pass.
        while self._roots or self._queue:
            if self._roots:
                state = self.states[self._roots.pop()]
                if not state.rounds:
                    self.evaluate(state)
                continue
            index = next(iter(self._queue))
            del self._queue[index]
            state = self.states[index]
            if state.rounds == _MOST_ROUNDS - 1:
                # The last round must hold for callers that are met after it.
                modes.open_to_all(self.surroundings.modes, state.params)
            self.evaluate(state)

    def add_root(self, index: int) -> None:
        """Make a function a root and evaluate it, unless it never runs under capture."""
        if self.surroundings.is_eager(self.project.functions[index]):
            return
        state = self._state(index)
        if not state.is_root:
            state.is_root = True
            state.chain = None
            self._roots.append(index)

    def add_start(self, index: int, *, loop_line: int = 0) -> None:
        """Evaluate what runs each step: a function, or only the loop on a line of its file."""
        if self.surroundings.is_eager(self.project.functions[index]):
            return
        state = self._state(index)
        state.is_start, state.loop_line = True, loop_line
        self._roots.append(index)

    def call(self, frame: Frame, ref: Ref, arguments: Arguments, node: ast.AST | None) -> Value:
        """Return what calling a function of the project gives."""
        if ref.at < 0:
            return self.entrance.call_lambda(frame, ref.at, arguments)
        function = self.project.functions[ref.at]
        if self.surroundings.is_eager(function):
            if self.surroundings.runs_once(function):
                return self.setup.call(function, ref, arguments)
            if ref.at in self._returns:
                return self._returns[ref.at]
            return self.entrance.declared_return(function)
        if not frame.captured:
            if function.facts.has_site:
                self._pass(self._state(ref.at), function, ref, arguments, is_driver=True)
            return self.setup.call(function, ref, arguments)
        state = self._state(ref.at)
        if frame.function is not None and not state.is_begun and state.chain is None:
            state.chain = (frame.function.index, getattr(node, "lineno", 0))
        if frame.function is not None:
            state.callers.add(frame.function.index)
        self._pass(state, function, ref, arguments)
        return self._result(state, function)

    def note_arguments(self, frame: Frame, ref: Ref, arguments: Arguments) -> None:
        """Note what `functools.partial` binds, without calling."""
        if frame.captured and ref.at >= 0:
            function = self.project.functions[ref.at]
            if not self.surroundings.is_eager(function):
                self._pass(self._state(ref.at), function, ref, arguments)

    def _pass(
        self,
        state: FunctionState,
        function: Function,
        ref: Ref,
        arguments: Arguments,
        *,
        is_driver: bool = False,
    ) -> None:
        given = self.entrance.given(function, ref, arguments)
        modes.pass_on(self.surroundings.modes, given, arguments)
        changed = False
        for name, value in given.items():
            if is_driver and not value.refs:
                continue  # Of what code around a capture is given, only what it may call tells.
            known = state.params.get(name)
            new = value if known is None else join_passed(known, value)
            if new != known:
                state.params[name] = new
                changed = True
        if changed and state.rounds and state.rounds < _MOST_ROUNDS:
            self._queue[state.index] = None

    def _result(self, state: FunctionState, function: Function) -> Value:
        if state.rounds == 0 and not state.is_running:
            if self.may_go_deeper:
                self.evaluate(state)
            else:
                self._queue[state.index] = None
        known = UNFINISHED if state.is_running and state.rounds == 1 else state.returns
        if not known.is_unknown:
            return known
        declared = self.entrance.declared_return(function)
        return known if declared == UNKNOWN else declared

    def evaluate(self, state: FunctionState) -> None:
        """Evaluate a function once more, with what its callers pass."""
        function = self.project.functions[state.index]
        node = self.entrance.body_of(function)
        if node is None or state.is_running:
            return
        state.is_running, state.rounds = True, state.rounds + 1
        frame = self.entrance.opened(
            function, node, state.params, captured=not state.is_site, is_root=state.is_root
        )
        frame.loop_line = only_loop(self.surroundings, state, function, node)
        if frame.loop_line:
            frame.live = frame.captured = False
        frame.driver = state.driver if state.is_site else None
        modes.enter(frame, function, state.params, is_root=state.is_root)
        if self.accounts is not None:
            inside = self.setup.is_running
            frame.account = self.accounts.of_state(state, function, is_inside=inside)
        try:
            with self.deeper():
                frame.falls_through = statements.run_block(frame, node.body)
            changing.settle(frame)
            self._keep(state, frame)
            if state.rounds == 1 and function.facts.decorators:
                for index in self._decorators.wrappers(function):
                    self.queue(index, function)
        except RecursionError:
            self.failures[state.index] = "is nested too deeply to analyse"
            if self.accounts is not None:
                self.accounts.leave(state.index)
        finally:
            state.is_running = False

    def queue(self, index: int, function: Function) -> None:
        """Evaluate one more function in its turn; `function` is what leads to it."""
        state = self._state(index)
        if not state.rounds and index != function.index:
            modes.open_to_all(self.surroundings.modes, state.params)
            state.chain = (function.index, function.facts.line - line_shift(function.facts))
            self._queue[index] = None

    def _keep(self, state: FunctionState, frame: Frame) -> None:
        outcome.note(state, frame, self._wanted)
        result = frame.result()
        if self.accounts is not None and frame.account is not None:
            self.accounts.close(frame.account, result, {})
        if outcome.is_new(state, result):
            for caller in state.callers:
                known = self.states.get(caller)
                if known is not None and 0 < known.rounds < _MOST_ROUNDS and not known.is_running:
                    self._queue[caller] = None

    def _run_sites(self, sites: Sequence[int]) -> None:
        for index in sites:
            state = self._state(index)
            state.is_site = True
            self.evaluate(state)
        # What one gives to another to capture is captured there.
        while given := [index for index in self._queue if self.states[index].is_site]:
            for index in given:
                del self._queue[index]
                self.evaluate(self.states[index])
        for index in sites:
            self._settle_site(self.states[index])

    def _settle_site(self, state: FunctionState) -> None:
        if state.has_region:
            return
        # It captures nothing itself; as a root or a callee it is a function like any other.
        state.is_site, state.rounds = False, 0
        if not state.is_root and not state.callers:
            del self.states[state.index]
            self._queue.pop(state.index, None)

    def note_region(self, function: Function | None) -> None:
        """Note that a function, if it may hold a capture site, really captures."""
        state = None if function is None else self.states.get(function.index)
        if state is not None and state.is_site:
            state.has_region = True

    def graph_lambda(self, frame: Frame, ref: Ref, arguments: Arguments) -> None:
        """Evaluate a lambda that is captured when it is given to what makes a graph of it."""
        if not self.surroundings.around and (frame.captured or self.is_site(frame)):
            with frame.capturing():
                self.entrance.call_lambda(frame, ref.at, arguments)

    def is_site(self, frame: Frame) -> bool:
        """Return whether a frame is the evaluation of a capture site's own function."""
        state = None if frame.function is None else self.states.get(frame.function.index)
        return state is not None and state.is_site

    def _state(self, index: int) -> FunctionState:
        if index not in self.states:
            self.states[index] = FunctionState(index)
        return self.states[index]
