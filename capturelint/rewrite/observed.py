"""One function of a file, with what a run showed of it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from capturelint.finding import Span
from capturelint.kind import UNKNOWN, Kind, Value
from capturelint.lint.index import facts_of
from capturelint.lint.scripting import scripts_own
from capturelint.lint.subjects import Mendable, parsed
from capturelint.names import MODULE_BODY, FunctionFacts
from capturelint.rewrite.allowed import NOTHING, Allowed
from capturelint.rewrite.imports import Torch, torch_in_file
from capturelint.rewrite.local_imports import torch_in_function
from capturelint.rewrite.observation import Observation, Seen
from capturelint.rewrite.site import Facts
from capturelint.rule import Subject
from capturelint.source import SourceFile, line_shift

_BEHIND_ALL = sys.maxsize  # a line
_NESTED = "it stands in a function inside of another, which is not rewritten; define it at the top of its file"
_TWICE = (
    "its file defines it more than once, as a property and its setter; give each a name of its own"
)


@dataclass(frozen=True, slots=True)
class Named:
    """A function of a file, and what names in that file stand for.

    `tree`: of the whole file, in which `node` is the function. `bound`: names that the module binds
    otherwise than by imports.
    """

    facts: FunctionFacts
    tree: ast.Module
    node: ast.FunctionDef
    imports: dict[str, tuple[str, str | None]]
    bound: frozenset[str]


def qualname_at(text: str, path: str, line: int) -> str:
    """Return the name of the innermost function that holds a line of a file, "" for none."""
    found = facts_of(ast.parse(text), text, path=path, module="m", is_package=False)
    around = [
        one
        for one in found.functions
        if one.first_line <= line <= one.end_line and one.name != MODULE_BODY
    ]
    return max(around, key=lambda one: one.line).qualname if around else ""


def why_unfit(text: str, path: str, qualname: str) -> str:
    """Return why a function of a file cannot get other code, by where it stands; "" if it can."""
    found = facts_of(ast.parse(text), text, path=path, module="m", is_package=False)
    names = [one.qualname for one in found.functions]
    parts = qualname.split(".")
    if any(".".join(parts[:end]) in names for end in range(1, len(parts))):
        return _NESTED
    return _TWICE if names.count(qualname) > 1 else ""


def function_named(text: str, path: str, qualname: str) -> Named:
    """Return a function of a file. The file must hold it once."""
    tree = ast.parse(text)
    found = facts_of(tree, text, path=path, module="m", is_package=False)
    (facts,) = (one for one in found.functions if one.qualname == qualname)
    (node,) = (
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef) and one.lineno == facts.line and one.name == facts.name
    )
    bound = frozenset((*found.assigns, *found.top_functions, *found.top_classes, *found.rebound))
    return Named(facts, tree, node, found.imports, bound)


class Observed(Facts):
    """A function as a run showed it. `wants_gradients`: the case may ask for gradients of it; `trains`: it does so in each step.

    `torch`: a global name that was torch when the function ran, "" if that is not known. `blamed`: the
    lines to blame, None if these are not known.
    """

    def __init__(
        self,
        named: Named,
        source: SourceFile,
        observation: Observation,
        *,
        wants_gradients: bool = True,
        torch: str = "",
        allowed: Allowed = NOTHING,
        blamed: frozenset[int] | None = None,
        trains: bool = False,
    ) -> None:
        shift = line_shift(named.facts)
        tree, positions = parsed(source.segment(named.facts), shift)
        subject = Subject(named.facts.qualname, positions, {})
        super().__init__(Mendable(subject, tree, source, lambda: source, scripts_own(source.text)))
        self.tree = tree
        self.observation = observation
        self.wants_gradients = wants_gradients
        self.allowed = allowed
        self._blamed = blamed
        self.trains = trains
        self._named = named
        self._torch = "" if torch in self.locals else torch

    def seen(self, node: cst.CSTNode) -> frozenset[Seen]:
        """Return all that an expression was; nothing if it never ran."""
        return self.observation.of(self.span(node))

    def may_be_blamed(self, node: cst.CSTNode) -> bool:
        """Return whether a statement begins on a line to blame, or it is not known which these are."""
        return self._blamed is None or self.span(node).line in self._blamed

    def is_tensor(self, node: cst.CSTNode) -> bool:
        """Return whether an expression ran, and was a tensor each time."""
        seen = self.seen(node)
        return bool(seen) and all(one.kind == "tensor" for one in seen)

    def value(self, node: cst.CSTNode) -> Value:
        """Return what a run showed of an expression, in the words of the source's analysis."""
        seen = self.seen(node)
        if self.is_tensor(node):
            is_host = all(one.device == "cpu" for one in seen)
            return Value(Kind.HOST_TENSOR if is_host else Kind.DEVICE_TENSOR)
        if seen and all(one.kind == "number" for one in seen):
            return Value(Kind.HOST_VALUE, dtype="int" if self.is_int(node) else "")
        return UNKNOWN

    def is_int(self, node: cst.CSTNode) -> bool:
        """Return whether an expression ran, and was an integer of Python's each time."""
        seen = self.seen(node)
        return bool(seen) and all((one.kind, one.name) == ("number", "int") for one in seen)

    def is_known_number(self, node: cst.CSTNode) -> bool:
        """Return whether an expression ran, and was an integer or a fraction each time."""
        seen = self.seen(node)
        return bool(seen) and all(one.kind == "number" and one.name != "bool" for one in seen)

    def is_known_device(self, node: cst.CSTNode) -> bool:
        """Return whether an expression ran, and was a `torch.device` each time."""
        seen = self.seen(node)
        return bool(seen) and all((one.kind, one.name) == ("other", "device") for one in seen)

    def is_known_host(self, node: cst.CSTNode) -> bool:
        """Return whether an expression ran, and was a tensor on the host each time."""
        seen = self.seen(node)
        return bool(seen) and all((one.kind, one.device) == ("tensor", "cpu") for one in seen)

    def torch_at(self, node: cst.CSTNode) -> Torch | None:
        """Return what torch is surely called at a place; the run may have shown it too."""
        known = super().torch_at(node)
        return known or (Torch(self._torch) if self._torch else None)

    def full_name(self, node: cst.CSTNode) -> str:
        """Return the dotted name of something imported or built in, or ""."""
        parts: list[str] = []
        while isinstance(node, cst.Attribute):
            parts.append(node.attr.value)
            node = node.value
        if not isinstance(node, cst.Name):
            return ""
        if self._own_torch is not None and node.value == self._own_torch.name:
            return ".".join(["torch", *reversed(parts)])
        if node.value in self.locals:
            return ""
        known = self._named.imports.get(node.value)
        if known is not None:
            module, name = known
            return ".".join([module, *([name] if name else []), *reversed(parts)])
        is_builtin = not parts and node.value not in self._named.bound
        return f"builtins.{node.value}" if is_builtin else ""

    @property
    def torch(self) -> Torch | None:
        """What torch is surely called in the whole function; None if that cannot be told.

        A name that the function imports it by is bound from that line on.
        """
        named = Torch(self._torch) if self._torch else None
        return torch_in_file(self.source) or named or self._own_torch

    @cached_property
    def _own_torch(self) -> Torch | None:
        """What the function itself imports torch as, and binds nowhere else."""
        return torch_in_function(self.tree, _BEHIND_ALL, self._function.subject.positions)

    @property
    def whole(self) -> ast.Module:
        """The tree of the whole file."""
        return self._named.tree

    def is_pure_module(self, node: cst.CSTNode) -> bool:
        """Return whether what is called was, each time, a module that changes nothing."""
        seen = self.seen(node)
        return bool(seen) and all(one.is_pure for one in seen)

    @cached_property
    def locals(self) -> frozenset[str]:
        """Return the names that the function binds."""
        return frozenset(_bound(ast.parse(self.tree.code)))

    @cached_property
    def words(self) -> frozenset[str]:
        """Return all names in the file, which new ones must not be."""
        tree = ast.parse("\n".join(self.source.lines))
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        return frozenset(names | attributes | set(_bound(tree)))

    def fresh(self, name: str, taken: frozenset[str] = frozenset()) -> str:
        """Return a name that nothing in the file has, nor is `taken`."""
        number, found = 1, name
        while found in self.words or found in taken:
            number, found = number + 1, f"{name}{number + 1}"
        return found

    def nodes(self, *kinds: type[cst.CSTNode]) -> Iterator[cst.CSTNode]:
        """Yield the nodes of some kinds, in the order of the source."""
        found = [node for node in self._parents if isinstance(node, kinds)]
        return iter(sorted(found, key=lambda node: self._place(self.span(node))))

    @staticmethod
    def _place(span: Span) -> tuple[int, int, int, int]:
        # The outer of two that begin together comes first.
        return span.line, span.column, -span.end_line, -span.end_column


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
