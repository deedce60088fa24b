"""Whether a function of a file makes a tensor by fills and exact steps alone, from integers.

Such a tensor is the same wherever it is made: views, sums, differences and products, comparisons, whole ranges.
"""

from __future__ import annotations

import ast
from enum import Enum

_FILLS = frozenset("zeros ones full eye arange".split())
_METHODS = frozenset("view reshape unsqueeze squeeze flatten expand repeat flip abs neg t".split())
_FUNCTIONS = frozenset("abs neg flip".split())
_SIGNS = (ast.Add, ast.Sub, ast.Mult)
_OF_INTEGERS = (*_SIGNS, ast.FloorDiv, ast.Mod)
_WHOLE = frozenset("int int32 int64 long".split())


class _Kind(Enum):
    WHOLE = "an integer"
    TENSOR = "a tensor"


class _OtherError(Exception):
    """The code may do something else."""


def is_filling(tree: ast.Module, name: str, count: int, torch: str) -> bool:
    """Return whether a function of a file, given `count` integers by place, only fills a tensor.

    `torch`: what the file calls it.
    """
    functions = [one for one in ast.walk(tree) if _binds(one, name)]
    if len(functions) != 1 or functions[0] not in tree.body:
        return False
    (function,) = functions
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return False
    given = function.args
    others = (given.posonlyargs, given.kwonlyargs, given.defaults, given.vararg, given.kwarg)
    if any(others) or len(given.args) != count:
        return False
    try:
        return _Code(torch, {one.arg: _Kind.WHOLE for one in given.args}).fills(function)
    except _OtherError:
        return False


def _binds(node: ast.AST, name: str) -> bool:
    """Return whether a node gives a name another meaning, or its only one."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    if isinstance(node, ast.alias):
        return name in (node.asname, node.name)
    if isinstance(node, ast.Global | ast.Nonlocal):
        return name in node.names
    if isinstance(node, ast.arg):
        return node.arg == name
    return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)


class _Code:
    """The code of one function, statement by statement. `kinds`: what its names hold."""

    def __init__(self, torch: str, kinds: dict[str, _Kind]) -> None:
        self._torch = torch
        self._kinds = kinds

    def fills(self, function: ast.FunctionDef) -> bool:
        *body, last = function.body
        for at, one in enumerate(body):
            is_text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
            if not (at == 0 and is_text):
                self._assigned(one)
        if not isinstance(last, ast.Return) or last.value is None:
            return False
        return self._kind(last.value) is _Kind.TENSOR

    def _assigned(self, node: ast.stmt) -> None:
        is_one = isinstance(node, ast.Assign) and len(node.targets) == 1
        target = node.targets[0] if isinstance(node, ast.Assign) and is_one else None
        if not isinstance(node, ast.Assign) or not isinstance(target, ast.Name):
            raise _OtherError
        if target.id == self._torch:
            raise _OtherError
        self._kinds[target.id] = self._kind(node.value)

    def _kind(self, node: ast.expr) -> _Kind:
        if isinstance(node, ast.Name) and node.id in self._kinds:
            return self._kinds[node.id]
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return _Kind.WHOLE
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._kind(node.operand)
        if isinstance(node, ast.BinOp):
            return self._computed(node.op, node.left, node.right)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._computed(ast.Add(), node.left, node.comparators[0])
        if isinstance(node, ast.Subscript) and self._kind(node.value) is _Kind.TENSOR:
            self._check_parts(node.slice)
            return _Kind.TENSOR
        if isinstance(node, ast.Call):
            return self._called(node)
        raise _OtherError

    def _computed(self, sign: ast.operator, *sides: ast.expr) -> _Kind:
        kinds = {self._kind(one) for one in sides}
        known = _OF_INTEGERS if kinds == {_Kind.WHOLE} else _SIGNS
        if not isinstance(sign, known):
            raise _OtherError
        return _Kind.TENSOR if _Kind.TENSOR in kinds else _Kind.WHOLE

    def _check_parts(self, node: ast.expr) -> None:
        for one in node.elts if isinstance(node, ast.Tuple) else [node]:
            bounds = [one.lower, one.upper, one.step] if isinstance(one, ast.Slice) else [one]
            for bound in bounds:
                is_new = isinstance(bound, ast.Constant) and bound.value in (None, ...)
                if bound is not None and not is_new:
                    self._check_whole(bound)

    def _check_whole(self, *nodes: ast.expr) -> None:
        for node in nodes:
            if isinstance(node, ast.Tuple):
                self._check_whole(*node.elts)
            elif self._kind(node) is not _Kind.WHOLE:
                raise _OtherError

    def _called(self, node: ast.Call) -> _Kind:
        if not isinstance(node.func, ast.Attribute):
            raise _OtherError
        name, held = node.func.attr, node.func.value
        is_torch = isinstance(held, ast.Name) and held.id == self._torch
        if is_torch and name in _FILLS:
            self._check_whole(*node.args)
            if any(
                one.arg != "dtype" or not self._is_whole_type(one.value) for one in node.keywords
            ):
                raise _OtherError
        elif is_torch and name in _FUNCTIONS and node.args and not node.keywords:
            self._check_tensor(node.args[0])
            self._check_whole(*node.args[1:])
        elif not is_torch and name in _METHODS and not node.keywords:
            self._check_tensor(held)
            self._check_whole(*node.args)
        else:
            raise _OtherError
        return _Kind.TENSOR

    def _check_tensor(self, node: ast.expr) -> None:
        if self._kind(node) is not _Kind.TENSOR:
            raise _OtherError

    def _is_whole_type(self, node: ast.expr) -> bool:
        is_known = isinstance(node, ast.Attribute) and node.attr in _WHOLE
        return (
            is_known
            and ast.unparse(node) == f"{self._torch}.{ast.unparse(node).rpartition('.')[2]}"
        )
