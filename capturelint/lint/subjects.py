"""Captured functions as rules see them, and the rules run over them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, cast

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider

from capturelint.finding import Span
from capturelint.kind import UNKNOWN, Mark, Value
from capturelint.lint.values.kept import RawSpan
from capturelint.names import FunctionFacts
from capturelint.release import Release
from capturelint.rule import Report, Rule, Subject, Trait, span_of
from capturelint.source import SourceFile, column_of, line_shift

Fact = TypeVar("Fact")
# libcst turns a RecursionError in its positions into a KeyError, and asks the class above of some
# nodes in a way that raises TypeError: `x in(lambda: x)`, with no space before the parenthesis.
_REFUSALS = (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError, KeyError, TypeError)


@dataclass(frozen=True, slots=True)
class Mendable:
    """A function whose reports may be given fixes, and the file around it, once it is asked for.

    `is_scripted`: code of the project may make TorchScript of it.
    """

    subject: Subject
    tree: cst.Module
    source: SourceFile
    file: Callable[[], SourceFile]
    is_scripted: bool = False


# Gives reports, each with the code of its rule, the fixes that there are.
Mender: TypeAlias = Callable[[Mendable, Sequence[tuple[str, Report]]], list[Report]]


class UnparsedError(Exception):
    """A function that Python can read, and libcst cannot."""


def is_wanted(rule: type[Rule], names: Set[str], traits: Set[Trait]) -> bool:
    """Return whether a function with these marks can hold what a rule looks for."""
    triggers = rule.triggers
    return not triggers.names.isdisjoint(names) or not triggers.traits.isdisjoint(traits)


def reports_of(
    rules: Iterable[type[Rule]],
    source: SourceFile,
    function: FunctionFacts,
    raw_values: Mapping[RawSpan, Value],
    raw_marks: Mapping[RawSpan, Mark],
    *,
    captured: bool,
    is_step: bool = False,
    target: Release | None = None,
    file: Callable[[], SourceFile] | None = None,
    mend: Mender | None = None,
    is_scripted: bool = False,
) -> list[tuple[type[Rule], Report]]:
    """Return what rules say of one function, in live code only. `is_step`: as it runs each step.

    `mend` gives them fixes, for which it may ask for the whole `file`. `is_scripted`: as in `Mendable`. Raises `UnparsedError` if
    libcst cannot parse what Python can.
    """
    shift = line_shift(function)
    tree, positions = parsed(source.segment(function), shift)
    values = in_file(raw_values, source, shift)
    marks = in_file(raw_marks, source, shift)
    if is_step:
        # Code around a captured region holds as many arrays and host tensors as device tensors.
        values = {
            span: UNKNOWN if value.weak and value.is_tensor else value
            for span, value in values.items()
        }
    subject = Subject(function.qualname, positions, values, captured, is_step, marks, target)
    visitors = [rule(subject) for rule in rules]
    cst.Module.visit(tree, _Walk(visitors))
    live = _Live(values)
    said = [
        (type(visitor), report)
        for visitor in visitors
        for report in visitor.reports
        if live.holds(report.span)
    ]
    if mend is None or not said:
        return said
    mendable = Mendable(subject, tree, source, file or (lambda: source), is_scripted)
    fixed = mend(mendable, [(rule.about.code, report) for rule, report in said])
    return [(rule, report) for (rule, _), report in zip(said, fixed, strict=True)]


def parsed(text: str, shift: int) -> tuple[cst.Module, Mapping[cst.CSTNode, Span]]:
    """Return the tree of a function, and where its nodes stand in the file, `shift` lines down."""
    try:
        tree = cst.parse_module(text)
        ranges = _Ranges().of(tree)
    except _REFUSALS as error:
        raise UnparsedError from error
    return tree, _Positions(ranges, shift)


class _Ranges(PositionProvider):
    """Positions as the provider finds them, without the walk for other metadata that `resolve` adds."""

    def of(self, tree: cst.Module) -> Mapping[cst.CSTNode, CodeRange]:
        """Return the range of each node. Raises one of `_REFUSALS`."""
        self._computed = {}
        self._gen_impl(tree)
        return cast("Mapping[cst.CSTNode, CodeRange]", self._computed)


class _Positions(Mapping[cst.CSTNode, Span]):
    """Spans of nodes in the file, made of their ranges in the function when they are asked for."""

    def __init__(self, ranges: Mapping[cst.CSTNode, CodeRange], shift: int) -> None:
        self._ranges = ranges
        self._shift = shift

    def __getitem__(self, node: cst.CSTNode) -> Span:
        return span_of(self._ranges[node], line_shift=self._shift)

    def __iter__(self) -> Iterator[cst.CSTNode]:
        return iter(self._ranges)

    def __len__(self) -> int:
        return len(self._ranges)


def in_file(raw: Mapping[RawSpan, Fact], source: SourceFile, shift: int) -> dict[Span, Fact]:
    """Return facts by span in file coordinates: Python's byte columns become characters."""
    values: dict[Span, Fact] = {}
    for (line, column, end_line, end_column), value in raw.items():
        start, end = line + shift, end_line + shift
        values[
            Span(
                start,
                column_of(source.line(start), column),
                end,
                column_of(source.line(end), end_column),
            )
        ] = value
    return values


class _Live:
    """Which spans hold code that was evaluated as live."""

    def __init__(self, values: Mapping[Span, Value]) -> None:
        self._values = values

    def holds(self, span: Span) -> bool:
        """Return whether a span is, or contains, an expression that was evaluated."""
        if span in self._values:
            return True
        start, end = (span.line, span.column), (span.end_line, span.end_column)
        return any(
            start <= (known.line, known.column) and (known.end_line, known.end_column) <= end
            for known in self._values
        )


class _Walk(cst.CSTVisitor):
    """One walk that calls the `visit_*` and `leave_*` methods of every rule."""

    def __init__(self, visitors: list[Rule]) -> None:
        super().__init__()
        self._visit: dict[str, list[Callable[[cst.CSTNode], object]]] = {}
        self._leave: dict[str, list[Callable[[cst.CSTNode], object]]] = {}
        for visitor in visitors:
            for name in _handlers(type(visitor)):
                table = self._visit if name.startswith("visit_") else self._leave
                table.setdefault(name.partition("_")[2], []).append(getattr(visitor, name))

    def on_visit(self, node: cst.CSTNode) -> bool:
        for method in self._visit.get(type(node).__name__, ()):
            method(node)
        return not _is_plain(type(node))

    def on_leave(self, original_node: cst.CSTNode) -> None:
        for method in self._leave.get(type(original_node).__name__, ()):
            method(original_node)

    def on_visit_attribute(self, node: cst.CSTNode, attribute: str) -> None:
        """Do nothing, fast: no rule has handlers of single attributes."""

    def on_leave_attribute(self, original_node: cst.CSTNode, attribute: str) -> None:
        """Do nothing, fast: no rule has handlers of single attributes."""


_PLAIN = (cst.BaseParenthesizableWhitespace, cst.TrailingWhitespace, cst.EmptyLine, cst.Name)


@functools.cache
def _is_plain(kind: type[cst.CSTNode]) -> bool:
    """Return whether nodes of a type hold nothing that rules ask about.

    Remembered, because libcst's types are abstract and asking an instance takes long.
    """
    return issubclass(kind, _PLAIN)


@functools.cache
def _handlers(rule: type[Rule]) -> tuple[str, ...]:
    """Return the names of the `visit_*` and `leave_*` methods that a rule defines itself."""
    return tuple(
        name
        for name in dir(rule)
        if name.startswith(("visit_", "leave_")) and name[6:7].isupper()
        if getattr(rule, name) is not getattr(cst.BatchableCSTVisitor, name, None)
    )
