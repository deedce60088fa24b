"""Whether `__init__` makes what an attribute holds right there: a list, tuple or tensor that nothing else holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from capturelint.rewrite.buffers import method_of

_BUILTINS = {"list": "list", "sorted": "list", "tuple": "tuple"}
_NUMBERS = frozenset(("int", "len", "abs", "round"))
_MAKING = frozenset("arange tensor zeros ones full randperm cat stack eye".split())
# Of a new tensor these give a tensor that holds its memory or its own.
_METHODS = frozenset(
    "argsort clone contiguous flatten flip int long permute repeat reshape roll squeeze t transpose unsqueeze view".split()
)
_GROWING = frozenset("append extend insert sort reverse".split())
_SIGNS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def assigned_in_init(
    tree: ast.Module, cls: str, attribute: str
) -> ast.Assign | ast.AnnAssign | None:
    """Return the one statement right in the `__init__` of a class that sets an attribute, None without one."""
    init = method_of(tree, cls, "__init__")
    if init is None or not init.args.args:
        return None
    wanted = f"{init.args.args[0].arg}.{attribute}"
    found: list[ast.Assign | ast.AnnAssign] = []
    for one in init.body:
        targets = one.targets if isinstance(one, ast.Assign) else []
        if isinstance(one, ast.AnnAssign) and one.value is not None:
            targets = [one.target]
        if isinstance(one, ast.Assign | ast.AnnAssign) and [*map(ast.unparse, targets)] == [wanted]:
            found.append(one)
    return found[0] if len(found) == 1 else None


def made_in_init(tree: ast.Module, cls: str, attribute: str, torch: str) -> str:
    """Return `list`, `tuple` or `tensor` if `__init__` surely makes that for an attribute, else "".

    `torch`: what the file calls it.
    """
    statement, init = assigned_in_init(tree, cls, attribute), method_of(tree, cls, "__init__")
    if statement is None or statement.value is None or init is None:
        return ""
    return _Scope(tree, init, torch).kind(statement.value)


@dataclass(slots=True)
class _Scope:
    """The expressions of one function. `wholes`: names that are integers there."""

    tree: ast.Module
    function: ast.FunctionDef
    torch: str
    depth: int = 0
    wholes: set[str] = field(default_factory=set)

    def kind(self, node: ast.expr) -> str:
        """Return `list`, `tuple` or `tensor` if an expression surely makes one of its own, else ""."""
        if isinstance(node, ast.List | ast.Tuple):
            is_plain = all(self._is_part(one) for one in node.elts)
            return type(node).__name__.lower() if is_plain else ""
        if isinstance(node, ast.ListComp):
            return "list" if self._is_comprehended(node) else ""
        if isinstance(node, ast.Name):
            return self._named(node)
        if isinstance(node, ast.Call):
            return self._called(node)
        if isinstance(node, ast.Subscript):
            return "tensor" if self.kind(node.value) == "tensor" else ""
        if isinstance(node, ast.UnaryOp):
            return "tensor" if self.kind(node.operand) == "tensor" else ""
        return self._computed(node) if isinstance(node, ast.BinOp) else ""

    def returned(self) -> str:
        """Return what the function surely gives, as `kind` does."""
        nodes = list(_own(self.function))
        is_odd = any(isinstance(one, ast.Yield | ast.YieldFrom | ast.Global) for one in nodes)
        if is_odd or not isinstance(self.function.body[-1], ast.Return):
            return ""
        given = [one.value for one in nodes if isinstance(one, ast.Return)]
        kinds = {self.kind(one) if one is not None else "" for one in given}
        return kinds.pop() if len(kinds) == 1 else ""

    def _is_part(self, node: ast.expr) -> bool:
        """Return whether an item is an integer, or a list of such items."""
        if isinstance(node, ast.List | ast.Tuple):
            return all(self._is_part(one) for one in node.elts)
        if isinstance(node, ast.ListComp):
            return self._is_comprehended(node)
        return self._is_whole(node)

    def _is_comprehended(self, node: ast.ListComp) -> bool:
        before = set(self.wholes)
        for one in node.generators:
            is_range = isinstance(one.iter, ast.Call) and self._builtin(one.iter) == "range"
            if not is_range or not isinstance(one.target, ast.Name) or one.is_async:
                return False
            self.wholes.add(one.target.id)
        is_plain = self._is_part(node.elt)
        self.wholes = before
        return is_plain

    def _is_whole(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return type(node.value) is int
        if isinstance(node, ast.Name):
            return node.id in self.wholes or self._is_whole_parameter(node.id)
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.USub) and self._is_whole(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, _SIGNS):
            return self._is_whole(node.left) and self._is_whole(node.right)
        return isinstance(node, ast.Call) and self._builtin(node) in _NUMBERS

    def _is_whole_parameter(self, name: str) -> bool:
        given = [one for one in _parameters(self.function) if one.arg == name]
        hints = [ast.unparse(one.annotation) for one in given if one.annotation is not None]
        return hints == ["int"] and not any(_binds(one, name) for one in _own(self.function))

    def _named(self, node: ast.Name) -> str:
        """Return what a name holds that is bound once, to something new, and read here, else only filled."""
        name = node.id
        places = [one for one in _own(self.function) if _binds(one, name)]
        around = {child: one for one in _own(self.function) for child in ast.iter_child_nodes(one)}
        is_given = any(
            isinstance(one, ast.arg) and one.arg == name for one in ast.walk(self.function.args)
        )
        if (
            len(places) != 1
            or is_given
            or any(isinstance(one, _INNER) for one in _own(self.function))
        ):
            return ""
        (place,) = places
        statement = around.get(place)
        if not isinstance(statement, ast.Assign) or statement.targets != [place]:
            return ""
        uses = [one for one in _own(self.function) if isinstance(one, ast.Name) and one.id == name]
        is_own = all(one in (node, place) or _only_fills(one, around) for one in uses)
        return self.kind(statement.value) if is_own and statement.value is not node else ""

    def _builtin(self, node: ast.Call) -> str:
        """Return the name of something built in that is called, "" for others."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        return "" if any(_binds(one, name) for one in ast.walk(self.tree)) else name

    def _called(self, node: ast.Call) -> str:
        if isinstance(node.func, ast.Name):
            made = _BUILTINS.get(self._builtin(node), "")
            return made or self._of_function(node.func.id)
        if not isinstance(node.func, ast.Attribute):
            return ""
        held, word = node.func.value, node.func.attr
        if isinstance(held, ast.Name) and held.id == self.torch:
            is_torch = not any(_binds(one, held.id) for one in _own(self.function))
            return "tensor" if is_torch and word in _MAKING and not _goes_out(node) else ""
        if word == "tolist" and not node.args:
            return "list"
        return "tensor" if word in _METHODS and self.kind(held) == "tensor" else ""

    def _of_function(self, name: str) -> str:
        """Return what a function of the file surely makes."""
        found = [one for one in ast.walk(self.tree) if _binds(one, name)]
        if len(found) != 1 or found[0] not in self.tree.body or self.depth:
            return ""
        (function,) = found
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return ""
        return _Scope(self.tree, function, self.torch, self.depth + 1).returned()

    def _computed(self, node: ast.BinOp) -> str:
        left, right = self.kind(node.left), self.kind(node.right)
        if isinstance(node.op, ast.Add) and left == right:
            return left
        if (
            isinstance(node.op, ast.Mult)
            and left in ("list", "tuple")
            and self._is_whole(node.right)
        ):
            return left
        sides = {left or self._is_whole(node.left), right or self._is_whole(node.right)}
        is_tensor = "tensor" in sides and sides <= {"tensor", True}
        return "tensor" if is_tensor and isinstance(node.op, _SIGNS) else ""


def _goes_out(node: ast.Call) -> bool:
    """Return whether a call writes what it makes into something given."""
    return any(one.arg in (None, "out") for one in node.keywords)


def _only_fills(node: ast.Name, around: dict[ast.AST, ast.AST]) -> bool:
    """Return whether a use of a list only adds to it, or asks for its length."""
    parent = around.get(node)
    call = around.get(parent) if parent is not None else None
    if isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and call.func is parent:
        return parent.attr in _GROWING
    return isinstance(parent, ast.Call) and ast.unparse(parent.func) == "len"


def _parameters(function: ast.FunctionDef) -> list[ast.arg]:
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


def _own(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body."""
    for one in function.body:
        yield from ast.walk(one)


def _binds(node: ast.AST, name: str) -> bool:
    """Return whether a node gives a name a meaning."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    if isinstance(node, ast.alias):
        return (node.asname or node.name.partition(".")[0]) == name
    if isinstance(node, ast.Global | ast.Nonlocal):
        return name in node.names
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return node.name == name
    if isinstance(node, ast.arg):
        return node.arg == name
    return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
