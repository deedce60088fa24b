"""Which attributes of self a statement sets."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_REGISTRARS = frozenset({"register_buffer", "register_parameter", "add_module", "register_module"})


_GROWERS = frozenset({"append", "extend", "insert", "update", "add_module"})


_STORING_METHODS = _REGISTRARS | _GROWERS


def sets_nothing(node: ast.stmt) -> bool:
    """Return whether it is plain that a statement sets no attribute, as it is of most."""
    if isinstance(node, ast.Expr):
        call = node.value
        if not isinstance(call, ast.Call):
            return True
        function = call.func
        if isinstance(function, ast.Attribute):
            return function.attr not in _STORING_METHODS and function.attr[-1] != "_"
        return not isinstance(function, ast.Name) or function.id != "setattr"
    if isinstance(node, ast.Assign):
        return len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    return isinstance(node, _TO_ONE_TARGET) and isinstance(node.target, ast.Name)


_TO_ONE_TARGET = (ast.AnnAssign, ast.AugAssign)


def stored(node: ast.stmt, self_name: str) -> Iterator[str]:
    """Yield the attributes of self that a statement assigns, registers, grows or changes in place."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _self_attributes(target, self_name)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        yield from _self_attributes(node.target, self_name)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from _stored_by_call(node.value, self_name)


def foreign(node: ast.stmt, self_name: str) -> Iterator[str]:
    """Yield the attributes that a statement sets on something other than self."""
    if isinstance(node, ast.Assign):
        targets = list(node.targets)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        targets = [node.target]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from _set_by_name(node.value, self_name)
        return
    else:
        return
    while targets:
        target = targets.pop()
        if isinstance(target, (ast.Tuple, ast.List)):
            targets += target.elts
        elif isinstance(target, ast.Attribute):
            value = target.value
            if not (isinstance(value, ast.Name) and value.id == self_name):
                yield target.attr


def _set_by_name(call: ast.Call, self_name: str) -> Iterator[str]:
    """Yield the attribute that `setattr(module, "flag", True)` sets."""
    if isinstance(call.func, ast.Name) and call.func.id == "setattr" and len(call.args) > 1:
        owner, key = call.args[:2]
        is_self = isinstance(owner, ast.Name) and owner.id == self_name
        if not is_self and isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value


def _self_attributes(target: ast.expr, self_name: str) -> Iterator[str]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _self_attributes(element, self_name)
        return
    while isinstance(target, ast.Subscript):
        target = target.value
    if (
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == self_name
    ):
        yield target.attr


def _is_in_place(method: str) -> bool:
    return method.endswith("_") and not method.startswith("_")


def _stored_by_call(call: ast.Call, self_name: str) -> Iterator[str]:
    """Yield attributes of self that `self.register_buffer("x", ..)`, `self.xs.append(..)` or `self.x.add_(..)` sets."""
    function = call.func
    first = call.args[0] if call.args else None
    named = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else "*"
    if isinstance(function, ast.Name):
        is_setattr = function.id == "setattr" and len(call.args) > 1
        if is_setattr and isinstance(first, ast.Name) and first.id == self_name:
            key = call.args[1]
            is_known = isinstance(key, ast.Constant) and isinstance(key.value, str)
            yield str(key.value) if is_known and isinstance(key, ast.Constant) else "*"
    elif isinstance(function, ast.Attribute):
        if isinstance(function.value, ast.Name) and function.value.id == self_name:
            if function.attr in _REGISTRARS:
                yield named
        elif function.attr in _GROWERS or _is_in_place(function.attr):
            yield from _self_attributes(function.value, self_name)
