"""Functions of a file while it is being indexed."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cache
from sys import intern

from capturelint.names import GRAPH_MODES, MODULE_BODY, FunctionFacts, dotted
from capturelint.source import split_lines


@dataclass(slots=True)
class Draft:
    """A function while its body is still being walked."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    qualname: str
    owner: int
    parent: int
    marker: str
    self_name: str
    stores: dict[str, None] = field(default_factory=dict)
    has_site: bool = False
    replay: int | None = None
    enters: dict[str, None] = field(default_factory=dict)

    def done(self) -> FunctionFacts:
        node = self.node
        return FunctionFacts(
            qualname=self.qualname,
            name=node.name,
            owner=self.owner,
            parent=self.parent,
            first_line=shared(min([node.lineno, *(d.lineno for d in node.decorator_list)])),
            line=shared(node.lineno),
            end_line=shared(node.end_lineno or node.lineno),
            column=node.col_offset,
            decorators=tuple(decorator_name(d) for d in node.decorator_list),
            stores=tuple(self.stores),
            has_site=self.has_site,
            marker=self.marker,
            replay=self.replay,
            enters=tuple(map(intern, self.enters)),
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a statement stands: the enclosing class and function, -1 when there is none."""

    prefix: str = ""
    owner: int = -1
    function: int = -1


@cache
def shared(number: int) -> int:
    """Return the one object that stands for a line in the facts of all files."""
    return number


def module_body(text: str, replay: int | None) -> FunctionFacts:
    """Return the module's own code as a function, since it captures a graph."""
    return FunctionFacts(
        qualname=MODULE_BODY,
        name=MODULE_BODY,
        owner=-1,
        parent=-1,
        first_line=1,
        line=0,
        end_line=len(split_lines(text)),
        column=0,
        decorators=(),
        has_site=True,
        replay=replay,
    )


def decorator_name(node: ast.expr) -> str:
    """Return the dotted name of a decorator, with the graph mode of `torch.compile` after a colon."""
    name = dotted(node)
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if isinstance(keyword.value, ast.Constant) and keyword.value.value in GRAPH_MODES:
                return f"{name}:{keyword.value.value}"
    return name
