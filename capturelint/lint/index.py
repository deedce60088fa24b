"""Facts of one file, from one walk over its statements."""

from __future__ import annotations

import ast
import re

from capturelint.lint.choices import Choice, arms_of
from capturelint.lint.directives import has_comments
from capturelint.lint.drafts import Draft, Scope, decorator_name, module_body, shared
from capturelint.lint.entered import entered
from capturelint.lint.markers import Markers
from capturelint.lint.replays import replay_line
from capturelint.lint.scripting import scripts_others, scripts_own
from capturelint.lint.site_marks import has_site, mark_sites
from capturelint.lint.stores import foreign, sets_nothing, stored
from capturelint.names import (
    ClassFacts,
    FileFacts,
    dotted,
    imported_names,
)
from capturelint.source import split_lines

_RENAMED = re.compile(r"from torch\.cuda(?:\.graphs)? import \(?[\w\s,]*?\bgraph as (\w+)")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Where statements hold statements: in fields, and in each part of a field.
_TRY = (("body", "orelse", "finalbody"), "handlers")
_BLOCKS: dict[type, tuple[tuple[str, ...], str]] = {
    **dict.fromkeys((ast.If, ast.For, ast.AsyncFor, ast.While), (("body", "orelse"), "")),
    **dict.fromkeys((ast.With, ast.AsyncWith), (("body",), "")),
    ast.Try: _TRY,
    ast.Match: ((), "cases"),
    **({ast.TryStar: _TRY} if hasattr(ast, "TryStar") else {}),
}
# What may set an attribute, or say that a name is rebound.
_STORING = frozenset({ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Global})


def facts_of(tree: ast.Module, text: str, *, path: str, module: str, is_package: bool) -> FileFacts:
    """Return the facts of a parsed file. `module` is its dotted name."""
    walk = _Walk(text, module, is_package=is_package)
    walk.statements(tree.body, Scope())
    renamed = _RENAMED.search(text) if " as " in text and "torch.cuda" in text else None
    is_script = False
    if renamed is not None or has_site(text):
        is_script = mark_sites(text, walk.functions, renamed[1] if renamed is not None else "graph")
    replays = ".replay()" in text
    if replays:
        for draft in walk.functions:
            draft.replay = replay_line(draft.node.body, captures=draft.has_site)
    functions = [draft.done() for draft in walk.functions]
    if is_script:
        replay = replay_line(tree.body, captures=True) if replays else None
        functions.append(module_body(text, replay))
    return FileFacts(
        path=path,
        module=module,
        is_package=is_package,
        imports=walk.imports,
        stars=tuple(walk.stars),
        functions=tuple(functions),
        classes=tuple(walk.classes),
        assigns=walk.assigns,
        has_comments=has_comments(text),
        foreign=tuple(walk.foreign),
        rebound={name: walk.first.get(name, "") for name in walk.rebound},
        top_functions=walk.top_functions,
        top_classes=walk.top_classes,
        scripts_own=scripts_own(text),
        scripts_others=scripts_others(text, walk.top_functions),
    )


def _asks_for_device(test: ast.expr) -> bool:
    """Return whether a test is true where there is a GPU, and only there."""
    return isinstance(test, ast.Call) and dotted(test.func) == "torch.cuda.is_available"


class _Walk:
    """Collects facts; lives for one file."""

    def __init__(self, text: str, module: str, *, is_package: bool) -> None:
        self.lines: tuple[str, ...] | None = None
        self.text = text
        self.module = module
        self.is_package = is_package
        self.imports: dict[str, tuple[str, str | None]] = {}
        self.stars: list[str] = []
        self.functions: list[Draft] = []
        self.classes: list[ClassFacts] = []
        self.assigns: dict[str, str] = {}
        self.first: dict[str, str] = {}
        self.rebound: dict[str, None] = {}
        self.foreign: dict[str, None] = {}
        self.top_functions: dict[str, int] = {}
        self.top_classes: dict[str, int] = {}
        self.markers = Markers(text)
        self.has_stacks = "enter_context(" in text or ".__enter__(" in text

    def statements(self, body: list[ast.stmt], scope: Scope) -> None:
        is_inside = scope.function >= 0
        for node in body:
            # By type and most frequent first, because this is done for every statement of a tree.
            kind = type(node)
            if kind in _STORING and is_inside:
                if not sets_nothing(node):
                    self._note_stores(node, self.functions[scope.function])
                if self.has_stacks:
                    self._note_entered(node, scope)
            elif kind in _BLOCKS:
                self._blocks(node, *_BLOCKS[kind], scope)
            elif isinstance(node, _FUNCTIONS):
                self._function(node, scope)
            elif isinstance(node, ast.ClassDef):
                self._class(node, scope)
            elif is_inside:
                continue
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
            elif scope.owner < 0:
                self.foreign.update(dict.fromkeys(foreign(node, "")))
                if isinstance(node, (ast.Assign, ast.AnnAssign)):
                    self._module_assign(node)

    def _blocks(self, node: ast.stmt, names: tuple[str, ...], parts: str, scope: Scope) -> None:
        if not scope.prefix and isinstance(node, (ast.If, ast.Try)):
            self._arms(node, scope)
            return
        if isinstance(node, (ast.With, ast.AsyncWith)):
            self._note_entered(node, scope)
        for name in names:
            block = getattr(node, name)
            if block:
                self.statements(block, scope)
        if parts:
            for part in getattr(node, parts):
                self.statements(part.body, scope)

    def _arms(self, node: ast.If | ast.Try, scope: Scope) -> None:
        """Walk the arms of a module's own branch, which may bind one name in several ways."""
        if isinstance(node, ast.If) and _asks_for_device(node.test):
            self.statements(node.body, scope)
            on_device = dict(self.top_functions)
            self.statements(node.orelse, scope)
            # What is defined for hosts without a GPU takes no name away.
            self.top_functions.update(on_device)
            return
        choice = Choice(self.top_functions, self.assigns)
        for arm in arms_of(node):
            self.statements(arm, scope)
            choice.end_arm()
        choice.settle(self._source(node.test) if isinstance(node, ast.If) else "")
        self.statements(getattr(node, "finalbody", []), scope)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        index = len(self.functions)
        qualname = scope.prefix + node.name
        owner = scope.owner if scope.function < 0 else -1
        parameters = [*node.args.posonlyargs, *node.args.args]
        outer = self.functions[scope.function].self_name if scope.function >= 0 else ""
        self_name = parameters[0].arg if owner >= 0 and parameters else outer
        marker = self.markers.of(node)
        self.functions.append(Draft(node, qualname, owner, scope.function, marker, self_name))
        if owner < 0 and scope.function < 0:
            self.top_functions[node.name] = index
        elif owner >= 0 and "overload" not in map(decorator_name, node.decorator_list):
            methods = self.classes[owner].methods
            if not any(decorator_name(d).endswith(".setter") for d in node.decorator_list):
                methods[node.name] = index
        self.statements(node.body, Scope(qualname + ".", scope.owner, index))

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        index = len(self.classes)
        qualname = scope.prefix + node.name
        facts = ClassFacts(
            qualname=qualname,
            name=node.name,
            line=shared(node.lineno),
            end_line=shared(node.end_lineno or node.lineno),
            bases=tuple(filter(None, map(dotted, node.bases))),
            decorators=tuple(decorator_name(d) for d in node.decorator_list),
            methods={},
            fields={},
            assigns={},
            marker=self.markers.of(node),
        )
        self.classes.append(facts)
        if not scope.prefix or scope.function < 0:
            self.top_classes.setdefault(qualname, index)
        for statement in node.body:
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                facts.fields[statement.target.id] = self._source(statement.annotation)
            elif isinstance(statement, ast.Assign):
                for target in statement.targets:
                    if isinstance(target, ast.Name):
                        facts.assigns[target.id] = self._source(statement.value)
        self.statements(node.body, Scope(qualname + ".", index, -1))

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for name, target in imported_names(node, here=self.module, is_package=self.is_package):
            if name == "*":
                self.stars.append(target[0])
            else:
                self.imports.setdefault(name, target)

    def _module_assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if not isinstance(target, ast.Name):
                continue
            source = "" if node.value is None else self._source(node.value)
            again = target.id in self.assigns
            self.assigns[target.id] = "" if again else source
            self.first.setdefault(target.id, source)

    def _note_stores(self, node: ast.stmt, draft: Draft) -> None:
        if isinstance(node, ast.Global):
            # A name that functions rebind is no constant.
            self.assigns.update(dict.fromkeys(node.names, ""))
            self.rebound.update(dict.fromkeys(node.names))
        for attribute in stored(node, draft.self_name):
            draft.stores[attribute] = None
        self.foreign.update(dict.fromkeys(foreign(node, draft.self_name)))

    def _note_entered(self, node: ast.stmt, scope: Scope) -> None:
        if scope.function >= 0:
            self.functions[scope.function].enters.update(dict.fromkeys(entered(node)))

    def _source(self, node: ast.expr) -> str:
        """Return the source of a short expression; "" for one too long to matter."""
        end_line = node.end_lineno or node.lineno
        if end_line - node.lineno > 8:
            return ""
        if end_line != node.lineno or not self.text.isascii():
            return ast.unparse(node)
        if self.lines is None:
            self.lines = split_lines(self.text)
        return self.lines[node.lineno - 1][node.col_offset : node.end_col_offset]
