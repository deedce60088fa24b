"""Whether what an attribute holds stays as `__init__` made it, as far as a file tells."""

from __future__ import annotations

import ast
from dataclasses import dataclass

_SETTING = frozenset(("setattr", "delattr", "__setattr__", "__delattr__"))
_HOOKS = frozenset(("__getattr__", "__getattribute__", "__setattr__", "__delattr__"))
_CHANGING = frozenset("append extend insert pop remove clear sort reverse".split())
# Builtins that keep nothing of a list of numbers.
_READING = frozenset(
    "all any enumerate isinstance len list max min range repr set sorted str sum tuple".split()
)
_FACTS = frozenset("shape dtype device ndim size numel dim tolist clone count index".split())
_MOVING = frozenset(("to", "cuda"))
_GATHERING = frozenset("index_select gather take take_along_dim index_add index_copy".split())
_OPERANDS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.FormattedValue, ast.BoolOp)


@dataclass(frozen=True, slots=True)
class Held:
    """An attribute of modules. `classes`: the names of those that may have it, in the file asked about.

    `is_flat`: it holds numbers right in a list or tuple, so that reading an item gives a number.
    """

    attribute: str
    classes: frozenset[str]
    is_flat: bool


def why_unsteady(tree: ast.Module, held: Held, made: ast.AST | None = None) -> str:
    """Return what in a file may change an attribute, or what it holds; "" if nothing does.

    `made`: the statement that sets it. Without classes in the file only writing to it counts there.
    """
    look = _Look(tree, held)
    inside = set(ast.walk(made)) if made is not None else set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and look.says_itself(node):
            return f"line {node.lineno}: `{node.name}` says itself what reading it does"
        why = look.why_set(node) or ("" if node in inside else look.why_used(node))
        if why:
            return f"line {getattr(node, 'lineno', 0)}: {why}"
    return ""


class _Look:
    """A file with what is around each of its nodes."""

    def __init__(self, tree: ast.Module, held: Held) -> None:
        self._held = held
        self._around = {child: one for one in ast.walk(tree) for child in ast.iter_child_nodes(one)}

    def says_itself(self, node: ast.ClassDef) -> bool:
        """Return whether a class says what reading or setting the attribute does."""
        names = {self._held.attribute, *_HOOKS}
        is_asked = node.name in self._held.classes
        return is_asked and any(not names.isdisjoint(_names(one)) for one in node.body)

    def why_set(self, node: ast.AST) -> str:
        """Return why a node may set the attribute by its name."""
        if isinstance(node, ast.Attribute) and node.attr == "__dict__" and self._is_in_class(node):
            return f"`{ast.unparse(node)}` may set it"
        if not isinstance(node, ast.Call):
            return ""
        called = ast.unparse(node.func).rpartition(".")[2]
        if called == "vars" and self._is_in_class(node):
            return f"`{ast.unparse(node)}` may set it"
        texts = [one.value for one in node.args if isinstance(one, ast.Constant)]
        if called == "getattr" and self._held.classes and self._held.attribute in texts:
            return f"`{ast.unparse(node)}` may change it"
        if called not in _SETTING:
            return ""
        is_known = any(isinstance(one, str) for one in texts)
        may_be = self._held.attribute in texts or (not is_known and self._is_in_class(node))
        return f"`{ast.unparse(node)}` may set it" if may_be else ""

    def why_used(self, node: ast.AST) -> str:
        """Return why a use of the attribute may change it, or what it holds."""
        if not isinstance(node, ast.Attribute) or node.attr != self._held.attribute:
            return ""
        if self._is_of_another(node):
            return ""
        text = ast.unparse(node)
        if not isinstance(node.ctx, ast.Load):
            return f"`{text}` is set there too"
        if self._is_written(node):
            return f"`{text}` is changed there"
        if self._held.classes and not self._is_only_read(node):
            return f"`{text}` is handed on there, to what may change it"
        return ""

    def _is_of_another(self, node: ast.Attribute) -> bool:
        """Return whether it is an attribute of `self` in a class that is none of those asked about."""
        owner, function = self._owner(node)
        if owner is None or function is None or owner.name in self._held.classes:
            return False
        first = function.args.args[0].arg if function.args.args else ""
        return isinstance(node.value, ast.Name) and node.value.id == first

    def _is_in_class(self, node: ast.AST) -> bool:
        owner, _ = self._owner(node)
        return owner is not None and owner.name in self._held.classes

    def _owner(self, node: ast.AST) -> tuple[ast.ClassDef | None, ast.FunctionDef | None]:
        """Return the class around a node, and its method that holds the node."""
        one, function = self._around.get(node), None
        while one is not None and not isinstance(one, ast.ClassDef):
            function = one if isinstance(one, ast.FunctionDef) else function
            one = self._around.get(one)
        return one, function

    def _is_written(self, node: ast.AST) -> bool:
        parent = self._around[node]
        if isinstance(parent, ast.Subscript) and parent.value is node:
            return not isinstance(parent.ctx, ast.Load) or self._is_written(parent)
        if not isinstance(parent, ast.Attribute):
            return False
        is_in_place = parent.attr.endswith("_") and not parent.attr.endswith("__")
        return parent.attr in _CHANGING or is_in_place or not isinstance(parent.ctx, ast.Load)

    def _is_only_read(self, node: ast.AST) -> bool:
        parent = self._around[node]
        above = self._around.get(parent)
        if isinstance(parent, _OPERANDS):
            return not isinstance(parent, ast.BoolOp) or isinstance(above, ast.If | ast.IfExp)
        if isinstance(parent, ast.If | ast.IfExp | ast.While | ast.Assert):
            return parent.test is node
        if isinstance(parent, ast.Subscript):
            return parent.slice is node or self._held.is_flat
        if isinstance(parent, ast.Tuple):
            return isinstance(above, ast.Subscript) and above.slice is parent
        if isinstance(parent, ast.For | ast.comprehension):
            return parent.iter is node and self._held.is_flat
        if isinstance(parent, ast.Attribute):
            is_moved = parent.attr in _MOVING and isinstance(above, ast.Call)
            return parent.attr in _FACTS or (is_moved and self._is_gathered(above))
        return isinstance(parent, ast.Call) and self._keeps_nothing(parent)

    def _is_gathered(self, node: ast.AST | None) -> bool:
        """Return whether what a call gives is an index at once."""
        parent = self._around.get(node) if node is not None else None
        above = self._around.get(parent) if parent is not None else None
        if isinstance(parent, ast.Subscript):
            return parent.slice is node
        if isinstance(parent, ast.Tuple):
            return isinstance(above, ast.Subscript) and above.slice is parent
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
            return parent.func.attr in _GATHERING
        return isinstance(parent, ast.BinOp | ast.Compare)

    def _keeps_nothing(self, node: ast.Call) -> bool:
        called = ast.unparse(node.func)
        if called == "torch.tensor":
            return True
        if isinstance(node.func, ast.Attribute) and node.func.attr in _GATHERING:
            return True
        return called in _READING and (self._held.is_flat or called in ("len", "isinstance"))


def _names(node: ast.AST) -> set[str]:
    """Return the names that a statement of a class binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return set()
    return {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
    }
