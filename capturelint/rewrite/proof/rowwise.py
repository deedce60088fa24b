"""Whether a module of the user's own computes each row of its result from one row alone.

Its code is read, and the names in it are looked up in the running program. A row is all that the last
dimension holds; whatever is not known to keep rows apart is taken to mix them. Functions whose slope may be
infinite are not known: in rows that do not count they would put NaN into the gradients of weights.
"""

from __future__ import annotations

import ast
import inspect
import operator
import textwrap
from collections.abc import Callable
from enum import Enum
from typing import Any, NoReturn

import torch
from torch import nn
from torch.nn import functional

_OF_ONE = (
    "relu silu gelu sigmoid tanh softplus leaky_relu elu logsigmoid hardswish mish relu6 abs neg"
    " sin cos square"
).split()
_OF_TWO = "mul add sub".split()
_METHODS = frozenset((*_OF_ONE, *_OF_TWO, "clamp", "float", "half", "bfloat16", "double"))


def _functions(names: list[str]) -> tuple[object, ...]:
    places = (functional, torch)
    return tuple(getattr(one, name) for one in places for name in names if hasattr(one, name))


_FUNCTIONS_OF_ONE, _FUNCTIONS_OF_TWO = _functions(_OF_ONE), _functions(_OF_TWO)
_APART = frozenset(("chunk", "split"))  # along the last dimension alone
_SIGNS = (ast.Add, ast.Sub, ast.Mult)


class _Kind(Enum):
    ROWS = "one row for each row of the input"
    PARTS = "a tuple of such"
    VECTOR = "the same for all rows"
    MATRIX = "what rows are multiplied with"


class _MixedError(Exception):
    """Rows may mix."""


def has_rowwise_code(module: nn.Module, is_rowwise: Callable[[nn.Module], bool]) -> bool:
    """Return whether the `forward` of a module takes one tensor and keeps its rows apart.

    `is_rowwise`: says so of a module that it calls. It changes nothing either.
    """
    kind = type(module)
    if kind.__call__ is not nn.Module.__call__ or kind.__getattr__ is not nn.Module.__getattr__:
        return False
    function = kind.forward
    if not inspect.isfunction(function) or hasattr(function, "__wrapped__"):
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        return isinstance(tree, ast.FunctionDef) and _Code(
            module, function.__globals__, is_rowwise
        ).keeps_rows(tree)
    except (OSError, SyntaxError, TypeError, IndexError, _MixedError):
        return False


class _Code:
    """The code of one `forward`, statement by statement."""

    def __init__(
        self, module: nn.Module, names: dict[str, Any], is_rowwise: Callable[[nn.Module], bool]
    ) -> None:
        self._module = module
        self._names = names
        self._is_rowwise = is_rowwise
        self._kinds: dict[str, _Kind] = {}

    def keeps_rows(self, function: ast.FunctionDef) -> bool:
        given = function.args
        is_plain = not (given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs)
        if function.decorator_list or not is_plain or len(given.args) != 2 or given.defaults:
            return False
        self._own, row = (one.arg for one in given.args)
        self._kinds[row] = _Kind.ROWS
        *body, last = function.body
        for at, statement in enumerate(body):
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not (at == 0 and is_text):
                self._assigned(statement)
        if not isinstance(last, ast.Return) or last.value is None:
            return False
        return self._kind(last.value) is _Kind.ROWS

    def _assigned(self, statement: ast.stmt) -> None:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            raise _MixedError
        (target,), kind = statement.targets, self._kind(statement.value)
        if isinstance(target, ast.Tuple) and kind is _Kind.PARTS:
            names = [one.id for one in target.elts if isinstance(one, ast.Name)]
            if len(names) != len(target.elts):
                raise _MixedError
            self._kinds.update(dict.fromkeys(names, _Kind.ROWS))
        elif isinstance(target, ast.Name) and target.id != self._own:
            self._kinds[target.id] = kind
        else:
            raise _MixedError

    def _kind(self, node: ast.expr) -> _Kind:
        if isinstance(node, ast.Name) and node.id in self._kinds:
            return self._kinds[node.id]
        if isinstance(node, ast.BinOp):
            return self._computed(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self._kind(node.operand)
        if isinstance(node, ast.Call):
            return self._called(node)
        return _kind_of(self._object(node))

    def _computed(self, node: ast.BinOp) -> _Kind:
        left, right = self._kind(node.left), self._kind(node.right)
        if isinstance(node.op, ast.MatMult) and (left, right) == (_Kind.ROWS, _Kind.MATRIX):
            return _Kind.ROWS
        is_known = isinstance(node.op, _SIGNS) or _is_flat(node)
        return self._joined(left, right) if is_known else self._mixed()

    def _joined(self, *kinds: _Kind) -> _Kind:
        if not set(kinds) <= {_Kind.ROWS, _Kind.VECTOR}:
            self._mixed()
        return _Kind.ROWS if _Kind.ROWS in kinds else _Kind.VECTOR

    def _called(self, node: ast.Call) -> _Kind:
        words = {one.arg for one in node.keywords}
        if any(isinstance(one, ast.Starred) for one in node.args) or None in words:
            self._mixed()
        if isinstance(node.func, ast.Attribute):
            root = node.func
            if self._is_rows(root.value):
                return self._method(node, root.attr)
        found = self._object(node.func)
        kinds = [self._kind(one) for one in node.args]
        if isinstance(found, nn.Module):
            is_kept = kinds == [_Kind.ROWS] and not words and self._is_rowwise(found)
            return _Kind.ROWS if is_kept else self._mixed()
        if found is functional.linear and kinds[:2] == [_Kind.ROWS, _Kind.MATRIX] and not words:
            return _Kind.ROWS if kinds[2:] in ([], [_Kind.VECTOR]) else self._mixed()
        if found is functional.gelu and kinds == [_Kind.ROWS] and words <= {"approximate"}:
            return _Kind.ROWS
        # What comes after the input of a function of one may ask for the result in its place.
        count = len(kinds)
        known = {1: _FUNCTIONS_OF_ONE, 2: _FUNCTIONS_OF_TWO}.get(count, ())
        if not words and any(found is one for one in known):
            return self._joined(*kinds)
        return self._mixed()

    def _is_rows(self, node: ast.expr) -> bool:
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        return not names.isdisjoint(self._kinds) and self._kind(node) is _Kind.ROWS

    def _method(self, node: ast.Call, name: str) -> _Kind:
        if name in _APART:
            (count, *rest), words = node.args, {one.arg: one.value for one in node.keywords}
            along = rest[0] if rest else words.get("dim")
            is_last = along is not None and ast.unparse(along) == "-1"
            is_fixed = len(node.args) + len(words) == 2 and isinstance(count, ast.Constant)
            return _Kind.PARTS if is_last and is_fixed else self._mixed()
        if name in _METHODS and not node.keywords:
            return self._joined(_Kind.ROWS, *(self._kind(one) for one in node.args))
        return self._mixed()

    def _object(self, node: ast.expr) -> object:
        """Return what a constant, a global name or an attribute of the module is in this program."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and node.id not in self._kinds and node.id in self._names:
            return self._names[node.id]
        if not isinstance(node, ast.Attribute):
            return self._mixed()
        if isinstance(node.value, ast.Name) and node.value.id == self._own:
            return self._held(self._module, node.attr)
        place = self._object(node.value)
        if isinstance(place, nn.Module):
            return self._held(place, node.attr)
        if not inspect.ismodule(place):
            return self._mixed()
        return operator.attrgetter(node.attr)(place)

    def _held(self, module: nn.Module, name: str) -> object:
        """Return an attribute of a module that is no property and no method."""
        for held in (module._parameters, module._buffers, module._modules, vars(module)):  # noqa: SLF001 - no getter
            if name in held and not hasattr(type(module), name):
                return held[name]
        return self._mixed()

    def _mixed(self) -> NoReturn:
        raise _MixedError


def _is_flat(node: ast.BinOp) -> bool:
    """Return whether it is a division by a written number, or a power of one, whose slope is finite."""
    value = node.right.value if isinstance(node.right, ast.Constant) else None
    if not isinstance(value, int | float):
        return False
    is_divided, is_power = isinstance(node.op, ast.Div), isinstance(node.op, ast.Pow)
    return (is_divided and value != 0) or (is_power and value >= 1)


def _kind_of(value: object) -> _Kind:
    if isinstance(value, bool | int | float):
        return _Kind.VECTOR
    if isinstance(value, torch.Tensor) and value.dim() <= 1:
        return _Kind.VECTOR
    if value is None or (isinstance(value, torch.Tensor) and value.dim() == 2):
        return _Kind.VECTOR if value is None else _Kind.MATRIX
    raise _MixedError
