"""What the parameters of a function are: from callers, annotations, defaults, names and use."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from capturelint.kind import DEVICE, HOST, NONE, UNKNOWN, Kind, Value
from capturelint.lint.symbols import Function
from capturelint.lint.values import tables, usage
from capturelint.lint.values.attributes import parameter_value
from capturelint.lint.values.frame import chain_text
from capturelint.lint.values.join import join, join_passed, mapping, sequence
from capturelint.source import FunctionNode

if TYPE_CHECKING:
    from capturelint.lint.values.arguments import Arguments
    from capturelint.lint.values.surroundings import Surroundings

_DEBUG = re.compile(tables.DEBUG_PARAMETER)
_LABEL = re.compile(tables.LABEL_NAME)
_NO_DEFAULTS: Mapping[str, Value] = {}
_COMMON_DEFAULTS: Mapping[bool | None, Value] = {
    one: Value(Kind.HOST_VALUE, constant=(one,)) for one in (None, True, False)
}


@dataclass(slots=True)
class Signature:
    """What a call needs of a function, kept when its tree is dropped.

    `defaults` are the values of parameters that have one; `returns` is the annotation, as text where
    that is a plain name; once it has been worked out, only what records say of it. `used` are the
    parameters that the body uses as only tensors can be used, None until somebody asks; `proven` those
    of them beyond doubt. `doubted` are those that the body compares with None, `said` what the
    annotations of all parameters say; both None until somebody asks.
    """

    positional: tuple[str, ...]
    names: tuple[str, ...]
    defaults: Mapping[str, Value]
    returns: ast.expr | str | None
    used: frozenset[str] | None = None
    proven: frozenset[str] = frozenset()
    doubted: frozenset[str] | None = None
    said: tuple[Value, ...] | None = None


def signature_of(node: FunctionNode) -> Signature:
    """Return the signature of a function."""
    args = node.args
    positional = tuple(a.arg for a in (*args.posonlyargs, *args.args))
    given = {name: default_value(default) for name, default in defaults(node).items()}
    return Signature(
        positional,
        (*positional, *(a.arg for a in args.kwonlyargs)),
        given or _NO_DEFAULTS,
        _returned(node.returns),
    )


def _returned(node: ast.expr | None) -> ast.expr | str | None:
    """Return an annotation to be kept: a name takes a tenth of the memory of its tree."""
    if isinstance(node, ast.Constant) and node.value is None:
        return "None"
    return node if node is None else chain_text(node) or node


def bound(signature: Signature, arguments: Arguments, *, skip_first: bool) -> dict[str, Value]:
    """Return the parameters that a call sets; one left to its default has the default's value."""
    positional = signature.positional[1:] if skip_first else signature.positional
    given = dict(zip(positional, arguments.positional, strict=False))
    for name, value in arguments.keywords:
        if name in signature.names:
            given[name] = value
    if not arguments.is_open:
        for name, value in signature.defaults.items():
            given.setdefault(name, value)
    return given


def defaults(node: FunctionNode) -> dict[str, ast.expr]:
    """Return the default expression of each parameter that has one."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    found: dict[str, ast.expr] = {}
    count = len(args.defaults)
    if count:
        for arg, default in zip(positional[-count:], args.defaults, strict=True):
            found[arg.arg] = default
    for arg, keyword_default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        if keyword_default is not None:
            found[arg.arg] = keyword_default
    return found


def default_value(node: ast.expr) -> Value:
    """Return the value of a default expression."""
    if isinstance(node, ast.Constant):
        if node.value is None or isinstance(node.value, bool):
            return _COMMON_DEFAULTS[node.value]
        return Value(Kind.HOST_VALUE, constant=(node.value,))
    if isinstance(node, (ast.Tuple, ast.List, ast.Dict)):
        return HOST
    return UNKNOWN


def entry_values(
    surroundings: Surroundings,
    function: Function,
    node: FunctionNode,
    given: dict[str, Value],
    *,
    is_root: bool,
    is_setup: bool = False,
    signature: Signature,
) -> dict[str, Value]:
    """Return the names in scope when the function starts."""
    values: dict[str, Value] = {}
    by_default = defaults(node)
    args = node.args
    named = (*args.posonlyargs, *args.args, *args.kwonlyargs)
    for arg, said in zip(named, _said(signature, surroundings, function, named), strict=True):
        own = parameter_value(arg.arg, said, by_default.get(arg.arg))
        value = own
        if arg.arg in given:
            value = _reconciled(own, given[arg.arg], is_root=is_root)
        elif _is_debug_flag(arg.arg, by_default.get(arg.arg)):
            value = Value(Kind.HOST_VALUE, constant=(False,))
        if is_root and value.is_unknown and said.is_unknown and said.optional:
            # Of `Tensor | float` a graph is given the tensor: a number would be baked in.
            value = DEVICE if arg.arg not in by_default else value
        if is_root:
            value = _at_root(arg.arg, value, by_default.get(arg.arg))
            if value.is_tensor and not value.optional:
                value = value._replace(optional=arg.arg in _doubted(signature, node))
        if value.is_unknown and not is_setup:
            if signature.used is None:
                used, proven = usage.tensor_names(node)
                signature.used = used.intersection(signature.names)
                signature.proven = proven.intersection(signature.names)
            may_be_first = is_root and arg.arg not in by_default
            if arg.arg in signature.used or (may_be_first and usage.is_plain_first(node, arg.arg)):
                # A method that only tensors have leaves no doubt.
                is_weak = arg.arg not in signature.proven
                value = Value(Kind.DEVICE_TENSOR, weak=is_weak, optional=arg.arg in by_default)
        fixed = surroundings.fixed_attribute(arg.arg)
        values[arg.arg] = surroundings.placed(arg.arg, value) if fixed is None else fixed
    if args.vararg is not None:
        said = surroundings.annotation(args.vararg.annotation, function.file.module)
        values[args.vararg.arg] = sequence(None, said)
    if args.kwarg is not None:
        said = surroundings.annotation(args.kwarg.annotation, function.file.module)
        values[args.kwarg.arg] = mapping(said)
    return values


def _said(
    signature: Signature, surroundings: Surroundings, function: Function, named: Sequence[ast.arg]
) -> tuple[Value, ...]:
    """Return what the annotations of all parameters say, worked out once."""
    if signature.said is None:
        module = function.file.module
        signature.said = tuple(surroundings.annotation(arg.annotation, module) for arg in named)
    return signature.said


def _reconciled(own: Value, passed: Value, *, is_root: bool) -> Value:
    """Return what a parameter is when its own words and its callers each say something."""
    if own.is_unknown:
        if is_root and passed.is_none:
            return UNKNOWN
        # A union such as `Tensor | float` may be something else at another call.
        return passed._replace(optional=True) if own.optional and passed.is_tensor else passed
    if passed.is_unknown:
        return own
    if passed.is_none:
        return own._replace(optional=True) if is_root else NONE
    if own.kind is Kind.DEVICE_TENSOR and passed.kind is Kind.HOST_TENSOR and not is_root:
        return passed
    if own.kind is passed.kind:
        if own.is_tensor:
            merged = passed if passed.dtype or not own.dtype else passed._replace(dtype=own.dtype)
            return merged._replace(optional=passed.optional)
        return passed if not is_root else join(own, passed)
    if own.is_tensor and passed.kind in (Kind.HOST_VALUE, Kind.SHAPE):
        return UNKNOWN if is_root else passed
    if own == HOST._replace(optional=True) and passed.kind is Kind.SHAPE and not is_root:
        return passed
    return own if own.kind is not Kind.HOST_VALUE or not passed.is_tensor else join_passed(own, own)


def _is_debug_flag(name: str, default: ast.expr | None) -> bool:
    is_off = isinstance(default, ast.Constant) and default.value is False
    return is_off and bool(_DEBUG.search(name))


def _at_root(name: str, value: Value, default: ast.expr | None) -> Value:
    """Return what a root's parameter is: labels are not given and debug flags not set."""
    if default is None:
        return value._replace(constant=()) if value.constant else value
    constant = default.value if isinstance(default, ast.Constant) else ...
    if constant is None and _LABEL.search(name):
        return NONE
    if _is_debug_flag(name, default):
        return Value(Kind.HOST_VALUE, constant=(False,))
    if value.constant:
        value = value._replace(constant=()) if not value.is_none else UNKNOWN
    return value._replace(optional=True) if constant is None and value.is_tensor else value


def _doubted(signature: Signature, node: FunctionNode) -> frozenset[str]:
    if signature.doubted is None:
        signature.doubted = usage.names_doubted(node).intersection(signature.names)
    return signature.doubted
