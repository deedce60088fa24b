"""Facts about one file, and what dotted names in it say before anything is linked."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

# The code of a module outside its functions, where it captures a graph.
MODULE_BODY = "<module>"
# Modes and backends of `torch.compile` that capture CUDA graphs.
GRAPH_MODES = frozenset({"reduce-overhead", "max-autotune", "cudagraphs"})


@dataclass(frozen=True, slots=True)
class FunctionFacts:
    """One `def`. Lines count from 1; `first_line` is that of its first decorator, if any.

    `parent` is the index, in the file, of the enclosing function or -1; `owner` of the class or -1.
    `stores` are the attributes of `self` that its statements assign. `has_site` is True when it
    holds a capture site: `torch.cuda.graph`, `make_graphed_callables` or `torch.compile(mode=...)`.
    `marker` is "captured", "eager", "step" or "". `replay` is the line of the loop in which it
    replays a graph, 0 where it does so outside of loops, None where it does not. `enters` are the last
    names of context managers that it enters, `*` for one that is not called there.
    """

    qualname: str
    name: str
    owner: int
    parent: int
    first_line: int
    line: int
    end_line: int
    column: int
    decorators: tuple[str, ...]
    stores: tuple[str, ...] = ()
    has_site: bool = False
    marker: str = ""
    replay: int | None = None
    enters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """One `class`. `methods` name functions of the file by index; `fields` are annotated names.

    `fields` and `assigns` hold source text, of the annotation and of the value.
    """

    qualname: str
    name: str
    line: int
    end_line: int
    bases: tuple[str, ...]
    decorators: tuple[str, ...]
    methods: dict[str, int]
    fields: dict[str, str]
    assigns: dict[str, str]
    marker: str = ""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the link needs of one file, so that its text can be dropped.

    `imports` maps a local name to a module and, for `from module import name`, the name in it.
    `assigns` are module-level names bound once, with the source text of their value; a name bound
    more often has the text "". `rebound` are those that a function rebinds, with the text of their
    first value. `has_comments`: it has comments addressed to capturelint.
    `foreign` are attributes that it sets on something other than `self`. `scripts_own`: it names
    `torch.jit.script`; `scripts_others`: it gives that something which is no function of its own.
    """

    path: str
    module: str
    is_package: bool
    imports: dict[str, tuple[str, str | None]]
    stars: tuple[str, ...]
    functions: tuple[FunctionFacts, ...]
    classes: tuple[ClassFacts, ...]
    assigns: dict[str, str]
    has_comments: bool = False
    foreign: tuple[str, ...] = ()
    rebound: dict[str, str] = field(default_factory=dict)
    top_functions: dict[str, int] = field(default_factory=dict)
    top_classes: dict[str, int] = field(default_factory=dict)
    scripts_own: bool = False
    scripts_others: bool = False


def dotted(node: ast.AST) -> str:
    """Return `a.b.c` for a name or attribute chain, also of a call or subscript of one, else ""."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Name):
            parts.append(node.id)
            return ".".join(reversed(parts))
        else:
            return ""


def absolute_module(module: str | None, level: int, *, here: str, is_package: bool) -> str:
    """Return the module that `from <level dots><module> import` names inside module `here`."""
    if level == 0:
        return module or ""
    parts = here.split(".")
    keep = len(parts) - level + (1 if is_package else 0)
    base = parts[: max(keep, 0)]
    return ".".join([*base, module] if module else base)


def imported_names(
    node: ast.Import | ast.ImportFrom, *, here: str, is_package: bool
) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """Yield each local name that an import binds, with the module and the name in it."""
    if isinstance(node, ast.ImportFrom):
        # Kept once for all files that import it.
        module = sys.intern(
            absolute_module(node.module, node.level, here=here, is_package=is_package)
        )
        for alias in node.names:
            yield alias.asname or alias.name, (module, None if alias.name == "*" else alias.name)
        return
    for alias in node.names:
        if alias.asname:
            yield alias.asname, (alias.name, None)
        else:
            top = alias.name.partition(".")[0]
            yield top, (top, None)
