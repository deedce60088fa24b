"""Code that also notes what each of its expressions is. It computes what the old code computes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import torch
from torch import nn

from capturelint.finding import Span
from capturelint.rewrite.observation import Observation, Seen
from capturelint.rewrite.proof.modules import is_pure, is_rowwise
from capturelint.source import SourceFile, column_of

NAME = "__capturelint_seen__"
_MOST_LISTED = 8
_MOST_TURNS = 10_000  # of a loop, in a row
_WRAPPED = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.Compare),
    *(ast.BoolOp, ast.UnaryOp, ast.IfExp),
)


class Recorder:
    """Notes in an observation what it is called with."""

    def __init__(self, observation: Observation) -> None:
        self.observation = observation
        self._spans: list[tuple[Span, bool]] = []
        self._turns: dict[int, int] = {}
        self._modules: dict[int, tuple[nn.Module, Seen]] = {}

    def instrumented(self, tree: ast.Module, function: ast.FunctionDef, source: SourceFile) -> None:
        """Change a function of a tree so that it calls `NAME` with each of its values."""
        tests = {id(test) for test in _tests(function)}
        loops = {id(one.test) for one in ast.walk(function) if isinstance(one, ast.While)}
        wrapping = _Wrapping(self, tests, loops, source)
        function.body = [wrapping.visit(statement) for statement in function.body]
        ast.fix_missing_locations(tree)

    def place(self, span: Span, *, is_test: bool, is_loop: bool) -> int:
        """Return the number by which a place is noted."""
        self._spans.append((span, is_test))
        self.observation.watched.add(span)
        if is_loop:
            self._turns[len(self._spans) - 1] = 0
        return len(self._spans) - 1

    def __call__(self, number: int, value: Any) -> Any:
        """Note a value, and return it."""
        span, is_test = self._spans[number]
        self.observation.seen[span].add(self._seen(value))
        self.observation.counts[span] += 1
        outcomes = self.observation.outcomes
        if isinstance(value, torch.Tensor):
            if value.dtype is torch.bool and value.numel() > 1:
                # Of a mask both outcomes may be seen at once.
                outcomes[span].update({bool(value.any()), bool(value.all())})
            elif is_test and value.numel() == 1:
                outcomes[span].add(bool(value))
        elif is_test and isinstance(value, bool | int | float):
            outcomes[span].add(bool(value))
        if number in self._turns:
            self._count_turn(number, value)
        return value

    def _seen(self, value: Any) -> Seen:
        """Return what a value is; of a module, whose code is read for it, once."""
        if not isinstance(value, nn.Module):
            return seen(value)
        if id(value) not in self._modules:
            self._modules[id(value)] = value, seen(value)
        return self._modules[id(value)][1]

    def _count_turn(self, number: int, value: Any) -> None:
        self._turns[number] = self._turns[number] + 1 if value else 0
        if self._turns[number] > _MOST_TURNS:
            self.observation.endless = self._spans[number][0].line
            raise EndlessError("a loop does not end")


class EndlessError(Exception):
    """A loop went on for too many turns."""


def seen(value: object) -> Seen:
    """Return what a value is, without keeping it."""
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        shape, name = tuple(value.shape), type(value).__name__
        return Seen("tensor", dtype, shape, value.device.type, name, has_slope=value.requires_grad)
    if isinstance(value, nn.Module):
        return Seen(
            "module",
            name=type(value).__name__,
            is_pure=is_pure(value),
            is_rowwise=is_rowwise(value),
        )
    if value is None:
        return Seen("none")
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return _listed(value)
    kind = "number" if isinstance(value, bool | int | float) else "other"
    return Seen(kind, name=type(value).__name__)


def _listed(value: Sequence[object]) -> Seen:
    """Return what a list or tuple is: of numbers of one type, or of such lists of one length."""
    other = Seen("other", name=type(value).__name__)
    if not 0 < len(value) <= _MOST_LISTED:
        return other
    if {type(one) for one in value} <= {list, tuple}:
        found = {_listed(cast("Sequence[object]", one)) for one in value}
        inner = found.pop()
        is_alike = not found and inner.kind == "list" and len(inner.shape) == 1
        return replace(inner, shape=(len(value), *inner.shape)) if is_alike else other
    kinds = {type(one) for one in value}
    if len(kinds) == 1 and kinds <= {bool, int, float}:
        return Seen("list", kinds.pop().__name__, (len(value),))
    return other


def _tests(function: ast.FunctionDef) -> Iterable[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            yield from _parts(node.test)


def _parts(test: ast.expr) -> Iterable[ast.expr]:
    """Yield a condition, and those that it is joined of."""
    yield test
    if isinstance(test, ast.BoolOp):
        for one in test.values:
            yield from _parts(one)


class _Wrapping(ast.NodeTransformer):
    """Puts a call around each expression that is read; nested functions stay as they are."""

    def __init__(
        self, recorder: Recorder, tests: set[int], loops: set[int], source: SourceFile
    ) -> None:
        self._recorder = recorder
        self._tests = tests
        self._loops = loops
        self._source = source

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            return node
        if isinstance(node, ast.JoinedStr | ast.pattern):
            return node
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                node.value = self.visit(node.value)
            return node
        is_test, is_loop = id(node) in self._tests, id(node) in self._loops
        self.generic_visit(node)
        is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        if not isinstance(node, _WRAPPED) or not is_read:
            return node
        span = self._span(cast("ast.expr", node))
        number = self._recorder.place(span, is_test=is_test, is_loop=is_loop)
        call = ast.Call(ast.Name(NAME, ast.Load()), [ast.Constant(number), node], [])
        return ast.copy_location(call, node)

    def _span(self, node: ast.expr) -> Span:
        line, end = node.lineno, node.end_lineno or node.lineno
        start = column_of(self._source.line(line), node.col_offset)
        return Span(line, start, end, column_of(self._source.line(end), node.end_col_offset or 0))
