"""The steps of an expression: what is called, what is read and what becomes of it."""

from __future__ import annotations

import ast

from capturelint.lint.sites.places import constant_keywords, key_of
from capturelint.lint.sites.steps import Steps
from capturelint.site import Deed

_CONTAINERS = (ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Starred)


def read(steps: Steps, node: ast.AST, how: str = "") -> None:
    """Note the steps of an expression, whose result is used as `how` says."""
    if isinstance(node, ast.Call):
        _call(steps, node)
    elif isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        _chain(steps, node, how)
    elif isinstance(node, ast.Lambda):
        return  # What it does is done when it is called.
    elif isinstance(node, (ast.BinOp, ast.Compare, ast.UnaryOp, ast.AugAssign)):
        is_identity = isinstance(node, ast.Compare) and all(
            isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops
        )
        _parts(steps, node, "" if is_identity else "operand")
    elif isinstance(node, ast.FormattedValue):
        _parts(steps, node, "text")
    elif isinstance(node, ast.IfExp):
        read(steps, node.test, "test")
        read(steps, node.body, how)
        read(steps, node.orelse, how)
    elif isinstance(node, _CONTAINERS):
        _parts(steps, node, how or "stored")
    else:
        _parts(steps, node, how if isinstance(node, (ast.BoolOp, ast.NamedExpr)) else "")


def _parts(steps: Steps, node: ast.AST, how: str) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            read(steps, child, how)
        elif isinstance(child, ast.comprehension):
            read(steps, child.iter)
            for test in child.ifs:
                read(steps, test, "test")


def _chain(steps: Steps, node: ast.expr, how: str) -> None:
    about = key_of(node)
    if about:
        _indices(steps, node)
        steps.add(Deed.READ, about, node, how=how, value=steps.known(node))
        return
    # An attribute or item of what a call gives.
    if isinstance(node, ast.Attribute):
        read(steps, node.value, f"attribute:{node.attr}")
    elif isinstance(node, ast.Subscript):
        read(steps, node.value, how)
        read(steps, node.slice)


def _indices(steps: Steps, node: ast.expr) -> None:
    """Note what the indices in a chain read."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript):
            read(steps, node.slice)
        node = node.value


def _call(steps: Steps, node: ast.Call) -> None:
    function = node.func
    about, name = key_of(function), steps.named(function)
    given: list[str] = []
    for arg in (*node.args, *(word.value for word in node.keywords)):
        inner = arg.value if isinstance(arg, ast.Starred) else arg
        read(steps, inner, f"argument:{name or about}")
        given += sorted({key for part in ast.walk(inner) if (key := key_of(part))})
    keywords = constant_keywords(node)
    method = function.attr if isinstance(function, ast.Attribute) else ""
    if isinstance(function, ast.Attribute):
        _receiver(steps, function, name)
    if method == "replay":
        assert isinstance(function, ast.Attribute), "only an attribute has the name of a method"
        steps.add(Deed.REPLAY, key_of(function.value), node)
    elif method == "capture_begin":
        assert isinstance(function, ast.Attribute), "only an attribute has the name of a method"
        steps.begin(key_of(function.value), node, keywords)
    elif method == "capture_end":
        steps.end()
    elif name.endswith("make_graphed_callables"):
        steps.add(
            Deed.GRAPHED, given[0] if given else "", node, names=tuple(given), keywords=keywords
        )
    else:
        steps.add(
            Deed.CALL,
            about or f".{method}",
            node,
            name=name,
            names=tuple(given),
            keywords=keywords,
            value=steps.known(function),
        )


def _receiver(steps: Steps, function: ast.Attribute, name: str) -> None:
    """Note the reading of what a method is called on; `torch` in `torch.sin` is no such thing."""
    if name and key_of(function.value):
        return
    read(steps, function.value, f"method:{function.attr}")
