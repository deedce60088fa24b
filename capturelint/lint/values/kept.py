"""What a call of a method reads of attributes of self, and what it leaves in them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from capturelint.kind import Kind, Mark, Source, Value

RawSpan = tuple[int, int, int, int]
# The arms of `if` that lead to a place: the function and line of each test, and its outcome.
Arms = tuple[tuple[tuple[int, int], bool], ...]

_JOINERS = frozenset("cat concat concatenate stack hstack vstack append".split())
# Methods that give the same memory, or the same values where nothing is left to be converted.
_SAME = frozenset(
    "detach view reshape contiguous transpose permute flatten unsqueeze squeeze expand expand_as "
    "view_as unflatten narrow select chunk split t".split()
)
_CONVERTED = _SAME | frozenset("to cuda cpu type type_as float half bfloat16 double".split())
_WORST_FIRST = (Mark.REBOUND, Mark.GROWN, Mark.RETAINED)


class Read(NamedTuple):
    """One read of what an earlier call left in an attribute; `calls` methods were called before."""

    attribute: str
    arms: Arms
    calls: int


class Store(NamedTuple):
    """One thing put in an attribute. `mark` is None where it is no tensor, so nothing to go stale."""

    attribute: str
    arms: Arms
    span: RawSpan
    mark: Mark | None


class Call(NamedTuple):
    """One call of another method of self; `written` are the attributes set before it."""

    function: int
    arms: Arms
    written: frozenset[str]


@dataclass(slots=True)
class Kept:
    """The reads, stores and calls of one evaluation.

    `item_counters` are places that count up an item of a mapping, with its text, and `item_numbers`
    the texts of items that are set to numbers, with the arms that lead there. `returned` are the changing Python values among what is returned. `inputs` are parameters not bound anew yet,
    `computed` names of tensors that were computed from what is in them. `where`: what was set in the arm of a test, by its text. `remembered`: attributes
    that a block of the first call fills from an argument, with the place of its test. `moved`: places
    that put what an attribute of self holds back there, moved to a device. `waits`: it has streams
    wait; `streams` are places that enter one which is not made here.
    """

    arms: Arms = ()
    written: frozenset[str] = frozenset()
    where: dict[str, frozenset[str]] = field(default_factory=dict)
    inputs: set[str] = field(default_factory=set)
    computed: set[str] = field(default_factory=set)
    reads: list[Read] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    returned: tuple[Source, ...] = ()
    item_counters: dict[Source, str] = field(default_factory=dict)
    item_numbers: dict[str, Arms] = field(default_factory=dict)
    remembered: list[tuple[str, RawSpan]] = field(default_factory=list)
    moved: list[RawSpan] = field(default_factory=list)
    waits: bool = False
    streams: list[RawSpan] = field(default_factory=list)

    def settle(self) -> None:
        """Drop what only the evaluation itself needed: of thousands, empty sets take megabytes."""
        del self.inputs, self.computed, self.where

    def note_read(self, attribute: str) -> None:
        """Note that an attribute is read, unless this call has set it."""
        if attribute not in self.written:
            self.reads.append(Read(attribute, self.arms, len(self.calls)))

    def only_asked(self) -> Asked:
        """Take what is read meanwhile for no read: only its form is asked for, or if it is there."""
        return Asked(self.reads)

    def note_store(self, attribute: str, span: RawSpan, mark: Mark | None) -> None:
        """Note that something is put in an attribute."""
        self.stores.append(Store(attribute, self.arms, span, mark))

    def note_filled(self, attribute: str, node: ast.Call, values: Sequence[Value]) -> None:
        """Note that a method such as `append` puts values in the list that an attribute holds."""
        if attribute in self.written:
            return
        span = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
        if not values:
            self.note_store(attribute, span, None)
            self.written |= {attribute}
        elif any(map(_holds_tensor, values)):
            self.note_store(attribute, span, Mark.GROWN)

    def note_written_where(self, test: ast.expr, before: frozenset[str]) -> None:
        """Note what the arm of a true test has just set, besides what was set `before`."""
        if self.written != before:
            text = ast.unparse(test)
            known = self.where.get(text, frozenset())
            self.where[text] = known | (self.written - before)

    def written_where(self, test: ast.expr) -> frozenset[str]:
        """Return what an earlier arm of the same test has set."""
        return self.where.get(ast.unparse(test), frozenset()) if self.where else frozenset()

    def note_call(self, function: int) -> None:
        """Note that another method of self is called."""
        self.calls.append(Call(function, self.arms, self.written))

    def mark_of(self, attribute: str, source: ast.expr | None, value: Value) -> Mark | None:
        """Return what storing `value`, which `source` gave, in an attribute of self means."""
        if value.kind is not Kind.DEVICE_TENSOR:
            return self._mark_of_items(attribute, source, value)
        if source is None:
            return Mark.REBOUND
        root = _root(source, _SAME)
        if isinstance(root, ast.Name) and root.id in self.inputs:
            return Mark.RETAINED
        if _is_attribute(_root(source, _CONVERTED), attribute):
            return None
        return Mark.GROWN if _joins(source, attribute) else Mark.REBOUND

    def _mark_of_items(self, attribute: str, source: ast.expr | None, value: Value) -> Mark | None:
        """Return what storing a tuple or list means: the worst of what it holds."""
        items = value.items or ()
        if isinstance(source, (ast.Tuple, ast.List)) and len(source.elts) == len(items):
            pairs = [
                p for p in zip(source.elts, items, strict=True) if not _is_item(p[0], attribute)
            ]
            marks = [self.mark_of(attribute, part, item) for part, item in pairs]
        else:
            marks = [self.mark_of(attribute, source, item) for item in items]
        return next((mark for mark in _WORST_FIRST if mark in marks), None)


class Asked:
    """Drops the reads that are noted while it is entered. A class, for speed."""

    __slots__ = ("_before", "_reads")

    def __init__(self, reads: list[Read]) -> None:
        self._reads = reads

    def __enter__(self) -> None:
        self._before = len(self._reads)

    def __exit__(self, *_: object) -> None:
        del self._reads[self._before :]


def is_move(attribute: str, source: ast.expr | None) -> bool:
    """Return whether `source` moves what an attribute holds: `self.table.to(x.device)`."""
    if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Attribute):
        return False
    if not _is_attribute(source.func.value, attribute):
        return False
    targets = [*source.args[:1], *(k.value for k in source.keywords if k.arg == "device")]
    return source.func.attr == "cuda" or (
        source.func.attr == "to" and any(map(_is_device, targets))
    )


def _is_device(node: ast.expr) -> bool:
    """Return whether an argument of `.to` reads as a device that is not the host."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.partition(":")[0] == "cuda"
    last = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return last == "device" or last.endswith("_device")


def _holds_tensor(value: Value) -> bool:
    parts = [value, *(value.items or ())]
    if value.element is not None:
        parts.append(value.element)
    return any(part.kind is Kind.DEVICE_TENSOR for part in parts)


def _root(node: ast.expr, methods: frozenset[str]) -> ast.expr:
    """Return the expression below calls of some methods: `x` of `x.detach().view(-1).data`."""
    while True:
        if isinstance(node, ast.Attribute) and node.attr == "data":
            node = node.value
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in methods
        ):
            node = node.func.value
        else:
            return node


def _is_attribute(node: ast.AST, attribute: str) -> bool:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        name = node.value.attr if isinstance(node.value, ast.Attribute) else ""
        return f"{name}[{node.slice.value!r}]" == attribute
    return isinstance(node, ast.Attribute) and node.attr == attribute


def _is_item(source: ast.expr, attribute: str) -> bool:
    """Return whether an expression gives an item of what the attribute holds, as it is."""
    root = _root(source, _CONVERTED)
    return isinstance(root, ast.Subscript) and _is_attribute(root.value, attribute)


def _joins(source: ast.expr, attribute: str) -> bool:
    """Return whether an expression puts something behind what the attribute holds."""
    if not isinstance(source, ast.Call):
        return False
    name = source.func.attr if isinstance(source.func, ast.Attribute) else ""
    parts = (part for argument in source.args for part in ast.walk(argument))
    return name in _JOINERS and any(_is_attribute(part, attribute) for part in parts)
