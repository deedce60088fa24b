"""One function while it is being evaluated: its names, what is live, what has been noted."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from capturelint.kind import NONE, UNKNOWN, Source, Value
from capturelint.lint.symbols import Function
from capturelint.lint.values.join import GRAPH_CONTEXT, join, join_all
from capturelint.lint.values.kept import Kept, RawSpan
from capturelint.lint.values.ways import Ways
from capturelint.names import FileFacts
from capturelint.rule import Trait

if TYPE_CHECKING:
    from capturelint.lint.values.account import Account
    from capturelint.lint.values.analysis import Analysis

Evaluator = Callable[["Frame", ast.expr], Value]


class Flag(NamedTuple):
    """The condition of `is_plain = x is None`, its names, and its length with flags in it spelled out.

    Of a name that stands for a mode, what it was read from.
    """

    test: ast.expr
    names: frozenset[str]
    length: int


class Frame:
    """The state of one evaluation. Thrown away when the function has been walked.

    `captured`: calls made here run under capture. `live`: this very code runs in each capture, and
    not only once or in an arm that a guard excludes; only live code is noted.
    """

    __slots__ = (
        "account",
        "analysis",
        "captured",
        "changing",
        "closure",
        "decisions",
        "dotted_keys",
        "driver",
        "env",
        "evaluators",
        "falls_through",
        "file",
        "flags",
        "function",
        "globals",
        "has_lambdas",
        "holds_region",
        "in_region",
        "is_generator",
        "items",
        "kept",
        "live",
        "loop_line",
        "loops",
        "names",
        "origins",
        "parameters",
        "returns",
        "self_name",
        "stores",
        "traits",
        "values",
        "ways",
    )

    def __init__(
        self,
        analysis: Analysis,
        file: FileFacts,
        function: Function | None,
        evaluators: dict[type, Evaluator],
        *,
        captured: bool,
    ) -> None:
        self.analysis = analysis
        self.file = file
        self.function = function
        self.evaluators = evaluators
        self.captured = captured
        self.live = captured
        # What it asks and notes, where that is to be kept.
        self.account: Account | None = None
        self.env: dict[str, Value] = {}
        self.closure: dict[str, Value] = {}
        self.dotted_keys = False
        # The line, in the function's own tree, of the only loop that is looked at; 0 for all of it.
        self.loop_line = 0
        # How many loops of the function the code stands in.
        self.loops = 0
        self.self_name = ""
        self.parameters: tuple[str, ...] = ()
        self.values: dict[RawSpan, Value] = {}
        self.names: set[str] = set()
        self.traits: set[Trait] = set()
        # What is known of code around a capture, where somebody asks for it.
        self.driver: dict[RawSpan, Value] | None = None
        self.returns: list[Value] = []
        self.falls_through = False
        self.is_generator = False
        self.has_lambdas = False
        # Whether the function itself captures what runs here; whether it does so where it yields.
        self.in_region = False
        self.holds_region = False
        self.stores: dict[str, Value] = {}
        # The conditions that local flags stand for.
        self.flags: dict[str, Flag] = {}
        # Whether a value met here changes from call to call; tests on such values, to be settled.
        self.changing = False
        self.decisions: list[tuple[tuple[Source, ...], ast.stmt]] = []
        self.globals: set[str] = set()
        # Items of mappings that change from call to call, by their text.
        self.items: dict[str, Value] = {}
        # What this call reads of attributes of self, and leaves in them.
        self.kept = Kept()
        # What names were on either way of a condition, by its text.
        self.ways: dict[str, Ways] = {}
        # The lasting attribute or cache that a local name was read from.
        self.origins: dict[str, str] = {}

    def forget(self, name: str) -> None:
        """Drop flags that are bound anew, or that speak of something bound anew."""
        for flag in [f for f, c in self.flags.items() if f == name or name in c.names]:
            del self.flags[flag]
        for text in [t for t, w in self.ways.items() if name in w.asked or name in w.ends]:
            del self.ways[text]

    def keep_flags(self, *others: dict[str, Flag]) -> None:
        """Keep only flags that other ways to here agree on."""
        self.flags = {f: c for f, c in self.flags.items() if all(o.get(f) == c for o in others)}

    def result(self) -> Value:
        """Return what the function gives, once its body has been run.

        Of a context manager, or `__enter__`, that captures what it is around: a graph context.
        """
        facts = None if self.function is None else self.function.facts
        if self.in_region and facts is not None and facts.name == "__enter__":
            return GRAPH_CONTEXT
        if self.holds_region and facts is not None and is_manager(facts.decorators):
            return GRAPH_CONTEXT
        if self.falls_through and not self.is_generator:
            return join_all([*self.returns, NONE])
        return join_all(self.returns) if self.returns else NONE

    def evaluate(self, node: ast.expr) -> Value:
        """Return what an expression is, and note it where the code is live."""
        value = self.evaluators[type(node)](self, node)
        if self.live:
            if self.changing:
                value = self.analysis.passed_on(self, node, value)
            elif value.sources:
                self.changing = True
            # Spelled out: this is done for every expression.
            self.values[
                (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
            ] = value
        elif self.driver is not None:
            self.driver[raw_span(node)] = value
        return value

    def note(self, trait: Trait) -> None:
        """Note a trait of live code."""
        if self.live:
            self.traits.add(trait)

    @property
    def may_be_live(self) -> bool:
        """True where code is live or captured, or may come to be; else nothing is to be dormant."""
        if self.live or self.captured or self.analysis.surroundings.around:
            return True
        return self.analysis.is_site(self)

    def dormant(self) -> Switched:
        """Evaluate code that does not run in the capture itself: noted nowhere, calls nothing."""
        return Switched(self, is_on=False)

    def capturing(self) -> Switched:
        """Evaluate the body of a capture site inside code that itself runs eagerly."""
        return Switched(self, is_on=True)

    def store(self, attribute: str, value: Value) -> None:
        """Note that an attribute of self is set."""
        known = self.stores.get(attribute)
        self.stores[attribute] = value if known is None else join(known, value)


class Switched:
    """While it is entered, the code of a frame is live and captured, or neither.

    A class, since a generator takes three times as long.
    """

    __slots__ = ("_before", "_frame", "_is_on")

    def __init__(self, frame: Frame, *, is_on: bool) -> None:
        self._frame, self._is_on = frame, is_on

    def __enter__(self) -> None:
        frame = self._frame
        self._before = frame.live, frame.captured
        frame.live = frame.captured = self._is_on

    def __exit__(self, *_: object) -> None:
        self._frame.live, self._frame.captured = self._before


def is_manager(decorators: Iterable[str]) -> bool:
    """Return whether decorators make a context manager of a generator."""
    return any(one.endswith("contextmanager") for one in decorators)


def raw_span(node: ast.AST) -> RawSpan:
    """Return where a node stands, in Python's own coordinates."""
    return (
        getattr(node, "lineno", 0),
        getattr(node, "col_offset", 0),
        getattr(node, "end_lineno", 0),
        getattr(node, "end_col_offset", 0),
    )


def chain_text(node: ast.AST) -> str:
    """Return `self.cache` or `name` for a chain of plain names, else ""."""
    # By type, because this is asked of every other expression.
    if type(node) is ast.Name:
        return node.id
    text = ""
    while type(node) is ast.Attribute:
        text = f".{node.attr}{text}"
        node = node.value
    return node.id + text if text and type(node) is ast.Name else ""


def joined_envs(left: dict[str, Value], right: dict[str, Value]) -> dict[str, Value]:
    """Return the names as they are when either arm may have run."""
    if left is right:
        return left
    result = dict(left)
    for name, value in right.items():
        known = result.get(name)
        if known is None:
            result[name] = value
        elif known is not value:
            result[name] = join(known, value)
    if len(result) == len(left) == len(right):
        return result
    for name in left.keys() - right.keys():
        if "." in name:
            # What an attribute was narrowed to in one arm only says nothing after it.
            result.pop(name)
    for name in right.keys() - left.keys():
        if "." in name:
            result.pop(name, UNKNOWN)
    return result
