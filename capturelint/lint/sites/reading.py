"""The capture sites of a run: which code belongs together, read with what evaluation knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from capturelint.finding import Span
from capturelint.kind import UNKNOWN, Kind, Value
from capturelint.lint.interpreter import deep_recursion
from capturelint.lint.linked import Linked
from capturelint.lint.roots import find_sites
from capturelint.lint.sites.statements import define
from capturelint.lint.sites.steps import Steps
from capturelint.lint.symbols import Function
from capturelint.lint.values import statements
from capturelint.lint.values.frame import raw_span
from capturelint.lint.values.kept import RawSpan
from capturelint.names import MODULE_BODY, dotted
from capturelint.site import Site
from capturelint.source import FunctionNode, SourceFile, column_of, line_shift


def read_sites(linked: Linked) -> Iterator[tuple[tuple[Function, ...], Site]]:
    """Yield each capture site of the checked files, with its outermost functions."""
    done: set[int] = set()
    for index in sorted(find_sites(linked.project)):
        function = linked.project.functions[index]
        if index in done or not linked.is_own(index):
            continue
        unit = _unit(linked, function)
        done.update(member.index for member in unit)
        if linked.analysis.accounts is not None:
            for member in unit:
                linked.analysis.accounts.leave(member.index)
        with deep_recursion():
            site = _read(linked, unit)
        if site.steps:
            yield unit, site


def _unit(linked: Linked, function: Function) -> tuple[Function, ...]:
    """Return a function alone, or all methods of its class."""
    if function.owner < 0:
        return (function,)
    return tuple(
        one for one in linked.project.functions if one.owner == function.owner and one.parent < 0
    )


def _read(linked: Linked, unit: tuple[Function, ...]) -> Site:
    steps = Steps()
    for function in unit:
        node = linked.analysis.entrance.body_of(function)
        if node is None:
            continue
        try:
            view = _View(linked, function, _values(linked, function, node))
            steps.known, steps.named, steps.placed = view.known, view.named, view.placed
            steps.is_script = function.facts.name == MODULE_BODY
            define(steps, node)
        except RecursionError:
            # What is nested so deeply was reported by the pass over values.
            continue
    first = unit[0]
    owner = linked.project.classes[first.owner] if first.owner >= 0 else None
    name = first.full_name if owner is None else owner.full_name
    regions = tuple(region for region in steps.regions if region.last >= 0)
    return Site(name, tuple(steps.steps), regions)


def _values(linked: Linked, function: Function, node: FunctionNode) -> Mapping[RawSpan, Value]:
    """Return what is known of the expressions of driver code, inside regions and outside."""
    analysis = linked.analysis
    state = analysis.states.get(function.index)
    if state is not None and state.is_site:
        return {**state.driver, **state.values}
    frame = analysis.entrance.opened(function, node, {}, captured=False, is_setup=True)
    frame.driver = {}
    statements.run_block(frame, node.body)
    return frame.driver


class _View:
    """One function of a site: what its expressions are, and where they stand in the file."""

    def __init__(self, linked: Linked, function: Function, values: Mapping[RawSpan, Value]) -> None:
        self._project = linked.project
        self._module = function.file.module
        self._values = values
        self._source: SourceFile = linked.reader.source_of(function)
        self._shift = line_shift(function.facts)

    def known(self, node: ast.expr) -> Value:
        return self._values.get(raw_span(node), UNKNOWN)

    def named(self, node: ast.expr) -> str:
        """Return the dotted name of something outside the project, or ""."""
        value = self.known(node)
        if value.kind is Kind.MODULE:
            return ""  # A layer carries the name of its class.
        if value.name and not value.refs and value.name[0] != "@":
            return value.name
        text = dotted(node)
        if not text or not value.is_unknown:
            return ""
        symbol = self._project.resolve(self._module, text)
        return symbol.name if symbol.ref is None else ""

    def placed(self, node: ast.AST) -> Span:
        line, column, end_line, end_column = raw_span(node)
        start, end = line + self._shift, end_line + self._shift
        return Span(
            start,
            column_of(self._source.line(start), column),
            end,
            column_of(self._source.line(end), end_column),
        )
