"""Code that also notes what each of its expressions is. It computes what the old code computes."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, cast

import torch
from torch import nn

from capturelint.finding import Span
from capturelint.rewrite.observation import Observation, Seen
from capturelint.rewrite.proof.modules import is_pure
from capturelint.source import SourceFile, column_of

NAME = "__capturelint_seen__"
_WRAPPED = (
    *(ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.Compare),
    *(ast.BoolOp, ast.UnaryOp, ast.IfExp),
)


class Recorder:
    """Notes in an observation what it is called with."""

    def __init__(self, observation: Observation) -> None:
        self.observation = observation
        self._spans: list[tuple[Span, bool]] = []

    def instrumented(self, tree: ast.Module, function: ast.FunctionDef, source: SourceFile) -> None:
        """Change a function of a tree so that it calls `NAME` with each of its values."""
        tests = {id(test) for test in _tests(function)}
        wrapping = _Wrapping(self, tests, source)
        function.body = [wrapping.visit(statement) for statement in function.body]
        ast.fix_missing_locations(tree)

    def place(self, span: Span, *, is_test: bool) -> int:
        """Return the number by which a place is noted."""
        self._spans.append((span, is_test))
        return len(self._spans) - 1

    def __call__(self, number: int, value: Any) -> Any:
        """Note a value, and return it."""
        span, is_test = self._spans[number]
        self.observation.seen[span].add(seen(value))
        is_one = isinstance(value, bool | int | float)
        if is_test and (is_one or (isinstance(value, torch.Tensor) and value.numel() == 1)):
            self.observation.outcomes[span].add(bool(value))
        return value


def seen(value: object) -> Seen:
    """Return what a value is, without keeping it."""
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        return Seen("tensor", dtype, tuple(value.shape), value.device.type, type(value).__name__)
    if isinstance(value, nn.Module):
        return Seen("module", name=type(value).__name__, is_pure=is_pure(value))
    if value is None:
        return Seen("none")
    kind = "number" if isinstance(value, bool | int | float) else "other"
    return Seen(kind, name=type(value).__name__)


def _tests(function: ast.FunctionDef) -> Iterable[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp | ast.While):
            yield node.test


class _Wrapping(ast.NodeTransformer):
    """Puts a call around each expression that is read; nested functions stay as they are."""

    def __init__(self, recorder: Recorder, tests: set[int], source: SourceFile) -> None:
        self._recorder = recorder
        self._tests = tests
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
        is_test = id(node) in self._tests
        self.generic_visit(node)
        is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        if not isinstance(node, _WRAPPED) or not is_read:
            return node
        number = self._recorder.place(self._span(cast("ast.expr", node)), is_test=is_test)
        call = ast.Call(ast.Name(NAME, ast.Load()), [ast.Constant(number), node], [])
        return ast.copy_location(call, node)

    def _span(self, node: ast.expr) -> Span:
        line, end = node.lineno, node.end_lineno or node.lineno
        start = column_of(self._source.line(line), node.col_offset)
        return Span(line, start, end, column_of(self._source.line(end), node.end_col_offset or 0))
