"""One place to rewrite, with what the source tells about it."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from functools import cached_property
from typing import TypeVar

import libcst as cst

from capturelint.finding import Edit, Span
from capturelint.kind import Value
from capturelint.lint.subjects import Mendable
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.imports import Torch, torch_in_file
from capturelint.rewrite.local_imports import torch_in_function
from capturelint.rewrite.own_attributes import is_plain_attribute
from capturelint.rule import Rule
from capturelint.source import SourceFile

Node = TypeVar("Node", bound=cst.CSTNode)

_SUBCLASSING = (
    "as_subclass",
    "_make_subclass",
    "_make_wrapper_subclass",
    "__torch_function__",
    "__torch_dispatch__",
)


class Facts:
    """What the source tells about one function: values, places, texts and enclosing nodes."""

    def __init__(self, function: Mendable) -> None:
        self.source = function.source
        self.tree = function.tree
        self._function = function
        self.is_scripted = function.is_scripted
        self._rule = Rule(function.subject)

    def value(self, node: cst.CSTNode) -> Value:
        """Return what is known of an expression."""
        return self._rule.value(node)

    def full_name(self, node: cst.CSTNode) -> str:
        """Return the dotted name of something outside the project, or ""."""
        return self._rule.full_name(node)

    def is_surely_tensor(self, node: cst.CSTNode) -> bool:
        """Return whether an expression is a device tensor, and not only supposed to be one."""
        value = self.value(node)
        is_sure = not (value.weak or value.optional or value.mixed or self.has_subclasses)
        return value.is_device_tensor and is_sure

    def is_pure_module(self, node: cst.CSTNode) -> bool:  # noqa: ARG002 - the source does not tell
        """Return whether a call of something is known to be one of a module that changes nothing."""
        return False

    def is_known_device(self, node: cst.CSTNode) -> bool:  # noqa: ARG002 - the source does not tell
        """Return whether an expression is known to be a device whatever the source says of it."""
        return False

    def is_known_number(self, node: cst.CSTNode) -> bool:  # noqa: ARG002 - the source does not tell
        """Return whether an expression is known to be a number of Python's."""
        return False

    def is_known_host(self, node: cst.CSTNode) -> bool:  # noqa: ARG002 - the source does not tell
        """Return whether an expression is known to be a tensor on the host."""
        return False

    @property
    def function(self) -> str:
        """The qualified name of the function in its file."""
        return self._function.subject.function

    @cached_property
    def file(self) -> SourceFile:
        """The whole file around the function."""
        return self._function.file()

    def span(self, node: cst.CSTNode) -> Span:
        """Return where a node stands, without parentheses around it."""
        return self._function.subject.positions[node]

    def text(self, node: cst.CSTNode) -> str:
        """Return the text of a node as it is in the file."""
        return self.text_at(self.span(node))

    def enclosed(self, node: cst.BaseExpression) -> str:
        """Return the text of an expression, in parentheses if it stands in some."""
        return f"({self.text(node)})" if node.lpar else self.text(node)

    def text_at(self, span: Span) -> str:
        """Return the text of the file under a span."""
        lines = list(self.source.lines[span.line - 1 : span.end_line])
        lines[-1] = lines[-1][: span.end_column]
        lines[0] = lines[0][span.column :]
        return "\n".join(lines)

    def around(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the nodes around a node, from the inside."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)

    def nearest(self, node: cst.CSTNode, kind: type[Node]) -> Node | None:
        """Return the innermost node of a kind around a node, or None."""
        return next((one for one in self.around(node) if isinstance(one, kind)), None)

    @cached_property
    def has_subclasses(self) -> bool:
        """Whether a file makes tensors of its own classes, which may index in their own way."""
        text = self.file.text
        return any(word in text for word in _SUBCLASSING)

    def torch_at(self, node: cst.CSTNode) -> Torch | None:
        """Return what torch is surely called at a place, with what makes it so; else None."""
        whole = self._torch_in_file
        if whole is not None and whole.line < self.span(node).line:
            return whole
        level: list[cst.CSTNode] = [node]
        while level:
            one = level.pop()
            # What is evaluated here by that name is torch, or raises.
            if isinstance(one, cst.Name) and self.full_name(one) == "torch":
                return Torch(one.value)
            level.extend(one.children)
        return torch_in_function(self.tree, self.span(node).line, self._function.subject.positions)

    @cached_property
    def _torch_in_file(self) -> Torch | None:
        return torch_in_file(self.file)

    @cached_property
    def _parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        found: dict[cst.CSTNode, cst.CSTNode] = {}
        level: list[cst.CSTNode] = [self._function.tree]
        while level:
            node = level.pop()
            for child in node.children:
                found[child] = node
                level.append(child)
        return found


class Site:
    """A node that a rule with `code` reported, and the facts of its function."""

    def __init__(self, code: str, node: cst.CSTNode, facts: Facts) -> None:
        self.code = code
        self.node = node
        self.facts = facts

    def form(self, grade: Grade, *edits: Edit) -> tuple[Form, ...] | Refusal:
        """Return edits as the only form, unless they would lose a comment or stand in an f-string."""
        text = self.facts.nearest(self.node, cst.FormattedString)
        for edit in edits:
            if text is not None and _holds(self.facts.span(text), edit.span):
                # Before Python 3.12 no quote of the string may be in it.
                return self.refusal("TEXT", "it stands in an f-string", "give it a name before")
            kept = set(_comments(edit.text))
            if any(comment not in kept for comment in _comments(self.facts.text_at(edit.span))):
                return self.refusal(
                    "COMMENT", "a comment inside of it would be lost", "move the comment first"
                )
        return (Form(grade, edits),)

    def with_torch(self, grade: Grade, node: cst.CSTNode, text: str) -> tuple[Form, ...] | Refusal:
        """Return `text` in place of `node`; `{torch}` in it becomes what torch is called here."""
        torch = self.facts.torch_at(node)
        if torch is None:
            return self.refusal(
                "NAME", "what `torch` is called here cannot be told", "write `import torch` on top"
            )
        edit = Edit(self.facts.span(node), text.replace("{torch}", torch.name))
        return self.form(grade, edit, *torch.edits)

    def refusal(self, code: str, reason: str, hint: str) -> Refusal:
        """Return a refusal at the line of the node."""
        return Refusal(code, reason, hint, self.facts.span(self.node).line)


def is_repeatable(node: cst.CSTNode, facts: Facts) -> bool:
    """Return whether an expression surely gives the same when it is read twice: no property of it."""
    if isinstance(node, cst.Attribute):
        is_own = isinstance(node.value, cst.Name) and node.value.value == "self"
        return is_own and is_plain_attribute(facts.file, facts.function, node.attr.value)
    return isinstance(node, cst.Name)


def indices_of(node: cst.Subscript) -> list[cst.BaseExpression]:
    """Return the indices of a subscript that are no slices; those of `x[(i, j)]` one by one.

    A tuple among others, as in `x[(i, j), k]`, is one index, and means what a list does.
    """
    found: list[cst.BaseExpression] = []
    for element in node.slice:
        if isinstance(element.slice, cst.Index):
            index = element.slice.value
            if isinstance(index, cst.Tuple) and len(node.slice) == 1:
                found += [part.value for part in index.elements]
            else:
                found.append(index)
    return found


def _holds(outer: Span, inner: Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _comments(text: str) -> Iterator[str]:
    """Yield the comments in a piece of code; a piece that is none by itself stands in parentheses."""
    if "#" not in text:
        return
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"({text}\n)").readline):
            if token.type == tokenize.COMMENT:
                yield token.string
    except (tokenize.TokenError, IndentationError):
        # Too odd to look into: taken for one comment, so that nothing is lost.
        yield text
