"""Whether an attribute of `self` is plain data, so that reading it runs no code of the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from capturelint.source import SourceFile

_HOOKS = frozenset(("__getattr__", "__getattribute__", "__setattr__"))
# A parametrized attribute is computed each time that it is read, some from what was kept before.
_COMPUTING = ("parametriz", "spectral_norm", "weight_norm")
_REGISTERING = frozenset(("register_buffer", "register_parameter"))
_GIVEN = frozenset(("training",))


def is_plain_attribute(source: SourceFile, function: str, attribute: str) -> bool:
    """Return whether a method's `self` surely holds an attribute as plain data.

    `function`: the method's qualified name in the file `source`. What a class inherits from another
    file is not known, but for the modules of torch.
    """
    if any(word in source.text for word in _COMPUTING):
        return False
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    all_classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    classes = {node.name: node for node in all_classes}
    name = function.rpartition(".")[0]
    if len(classes) < len(all_classes) or name not in classes:
        return False
    line = _lineage(classes[name], classes, _torch_names(tree))
    if not line or any(_is_made_by(one, attribute) for one in all_classes):
        # Also in a class that is derived from this one, which `self` may be of.
        return False
    return attribute in _GIVEN or any(_is_set_in(one, attribute) for one in line)


def _lineage(
    node: ast.ClassDef, classes: dict[str, ast.ClassDef], torch: frozenset[str]
) -> list[ast.ClassDef]:
    """Return a class and all above it in the file; none if another may be among them."""
    found: list[ast.ClassDef] = []
    left = [node]
    while left:
        one = left.pop()
        if one.keywords or one.decorator_list or len(found) > len(classes):
            return []
        found.append(one)
        for base in one.bases:
            if isinstance(base, ast.Name) and base.id in classes:
                left.append(classes[base.id])
            elif ast.unparse(base) not in torch:
                return []
    return found


def _torch_names(tree: ast.Module) -> frozenset[str]:
    """Return the texts that stand for `torch.nn.Module` in a file, and `object`."""
    found = {"object"}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                word = alias.asname or alias.name
                if alias.name in ("torch", "torch.nn"):
                    found.add(f"{word}.Module" if alias.name == "torch.nn" else f"{word}.nn.Module")
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                word = alias.asname or alias.name
                if (node.module, alias.name) == ("torch", "nn"):
                    found.add(f"{word}.Module")
                elif (node.module, alias.name) == ("torch.nn", "Module"):
                    found.add(word)
    return frozenset(found)


def _is_made_by(node: ast.ClassDef, attribute: str) -> bool:
    """Return whether a class itself says what reading an attribute does, or may do so."""
    for one in node.body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if one.name == attribute or one.name in _HOOKS:
                return True
        elif isinstance(one, ast.AnnAssign):
            if one.value is not None and _is_made_of_more(one.value, [one.target], attribute):
                return True
        elif isinstance(one, ast.Assign):
            if _is_made_of_more(one.value, one.targets, attribute):
                return True
        elif not isinstance(one, ast.Expr | ast.Pass):
            return True
    return False


def _is_made_of_more(value: ast.expr, targets: list[ast.expr], attribute: str) -> bool:
    """Return whether names that a class sets are an attribute, or a hook, and no plain constant."""
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    is_asked = attribute in names or not _HOOKS.isdisjoint(names) or len(names) < len(targets)
    return is_asked and not isinstance(value, ast.Constant)


def _is_set_in(node: ast.ClassDef, attribute: str) -> bool:
    """Return whether `__init__` of a class sets an attribute of its `self`."""
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            return attribute in _set_names(one)
    return False


def _set_names(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                yield node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            name = node.args[0]
            if node.func.attr in _REGISTERING and isinstance(name, ast.Constant):
                yield str(name.value)
