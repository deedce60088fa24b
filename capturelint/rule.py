"""All that a rule file imports: the base class of every rule and the words it is written in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import libcst as cst
from libcst.metadata import CodeRange

from capturelint.call import argument, has_star_arguments, is_asynchronous, method_call
from capturelint.condition import asked_tensor, only_raises, parts_of_test
from capturelint.finding import Effect, Fix, Span
from capturelint.kind import UNKNOWN, Kind, Mark, Pinned, Value
from capturelint.operations import OPERATIONS, Operation, operations_of
from capturelint.release import Release
from capturelint.site import (
    Block,
    Deed,
    Inside,
    Region,
    Site,
    Step,
    always_after,
    excludes,
    root_of,
)
from capturelint.triggers import Trait, Triggers

__all__ = [
    "OPERATIONS",
    "UNKNOWN",
    "About",
    "Block",
    "Deed",
    "Effect",
    "Inside",
    "Kind",
    "Mark",
    "Operation",
    "Pinned",
    "Region",
    "Report",
    "Rule",
    "Site",
    "Step",
    "Subject",
    "Trait",
    "Triggers",
    "Value",
    "always_after",
    "argument",
    "asked_tensor",
    "excludes",
    "has_star_arguments",
    "is_asynchronous",
    "method_call",
    "names",
    "only_raises",
    "operations_of",
    "parts_of_test",
    "root_of",
    "span_of",
]


@dataclass(frozen=True, slots=True)
class About:
    """The facts of a rule that listings, filters and `capturelint rule` show.

    `waits`: outside a captured region the host waits at what it reports, or copies from memory that
    is not pinned, so that it is worth reporting in code that runs each step around one.
    """

    code: str
    name: str
    effects: tuple[Effect, ...]
    since: str
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What a rule said, before the engine adds the path. `fix` and `refusal`: as in a finding."""

    span: Span
    message: str
    effects: tuple[Effect, ...]
    node: cst.CSTNode | None = None
    fix: Fix | None = None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """One function as a rule sees it, parsed alone.

    `positions` are of libcst nodes inside it, already in file coordinates (lines from 1, columns
    from 0, in characters). `values` maps a span of an expression to what is known of its value.
    `captured` is False where the function is looked at only because of `--scope all`. `is_step`: it
    runs each step around a captured region, and only where the host surely waits is it of interest. `marks` says
    of places, by the span of the expression or of the target set, what a replay leaves out.
    """

    function: str
    positions: Mapping[cst.CSTNode, Span]
    values: Mapping[Span, Value]
    captured: bool = True
    is_step: bool = False
    marks: Mapping[Span, Mark] = field(default_factory=dict)
    target: Release | None = None  # the release of torch that is checked for; None for any


class Rule(cst.BatchableCSTVisitor):
    """One capture hazard. A fresh instance visits one subject, then is thrown away.

    A rule about code around a capture overrides `judge_site`. It gets the steps of each capture site
    and no tree, and its `triggers` only say what it is about. A rule about captured code defines
    `visit_*` methods and calls `report` from them. All rules visit the tree in one shared walk, so
    no `visit_*` method may return False. Nested functions are subjects of their own and are not part
    of this walk.
    """

    about: ClassVar[About]
    triggers: ClassVar[Triggers]

    def __init__(self, subject: Subject) -> None:
        super().__init__()
        self.subject = subject
        self.reports: list[Report] = []

    def value(self, node: cst.CSTNode) -> Value:
        """Return what is known of an expression; `UNKNOWN` when nothing is."""
        span = self.subject.positions.get(node)
        if span is None:
            return UNKNOWN
        found = self.subject.values.get(span)
        return found if found is not None else self._from_parts(node)

    def kind(self, node: cst.CSTNode) -> Kind:
        """Return where the value of an expression lives."""
        return self.value(node).kind

    def mark(self, node: cst.CSTNode) -> Mark | None:
        """Return what `node`, a call or the target of an assignment, does that a replay does not."""
        span = self.subject.positions.get(node)
        return None if span is None else self.subject.marks.get(span)

    def full_name(self, node: cst.CSTNode) -> str:
        """Return the dotted name that `node` stands for outside the project, or "".

        `F.relu` gives `torch.nn.functional.relu` whatever the import called it, `int` gives
        `builtins.int`; a local name or a symbol of the project gives "".
        """
        return self.value(node).name

    def judge_site(self, site: Site) -> None:
        """Report what is wrong with a capture site. Rules about driver code override this."""

    def report_at(
        self, span: Span, message: str, *, effects: tuple[Effect, ...] | None = None
    ) -> None:
        """Record a finding at a place in the file. `effects` defaults to those of `about`."""
        self.reports.append(Report(span, message, effects or self.about.effects))

    def report(
        self,
        node: cst.CSTNode,
        message: str,
        *,
        effects: tuple[Effect, ...] | None = None,
        waits: bool = True,
    ) -> None:
        """Record a finding at `node`. `effects` defaults to those of `about`.

        With `waits` False, what is reported costs no wait outside a captured region.
        """
        effects = effects or self.about.effects
        if self.subject.is_step:
            if not waits or Effect.REFUSES not in effects:
                return
            message, effects = outside_capture(message), (Effect.SLOW,)
        self.reports.append(Report(self.subject.positions[node], message, effects, node))

    def _from_parts(self, node: cst.CSTNode) -> Value:
        """Return the value of a node that Python's own syntax tree does not have."""
        if isinstance(node, cst.BooleanOperation):
            left, right = self.value(node.left), self.value(node.right)
            return left if left.is_device_tensor else right
        if isinstance(node, cst.Tuple):
            items = tuple(self.value(element.value) for element in node.elements)
            return Value(Kind.HOST_VALUE, items=items)
        if isinstance(node, cst.GeneratorExp):
            return Value(Kind.HOST_VALUE, element=self.value(node.elt))
        return UNKNOWN


def outside_capture(message: str) -> str:
    """Return a rule's message as it reads for code around a captured region: there the host waits."""
    for clause in (", which capture refuses to read", ", which capture refuses", " during capture"):
        message = message.replace(clause, "")
    how = "" if "has the host wait" in message else ", for which the host waits"
    return f"{message}{how} each step"


def span_of(code: CodeRange, *, line_shift: int) -> Span:
    """Return a libcst range as a `Span`, `line_shift` lines further down."""
    start, end = code.start, code.end
    return Span(start.line + line_shift, start.column, end.line + line_shift, end.column)


def names(words: Iterable[str]) -> frozenset[str]:
    """Return trigger names from space-separated words."""
    return frozenset(word for text in words for word in text.split())
