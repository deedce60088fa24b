"""What gives a local name its value: every place in a function that binds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

import libcst as cst


class Way(Enum):
    """What an expression has to do with the value of a name."""

    VALUE = "it is the value"
    ITEM = "the value is an item of it"
    FIRST = "the value is the first part of its items, which are pairs"
    WITHIN = "the value is somewhere within it"


class Binding(NamedTuple):
    """One place that binds a name."""

    way: Way
    source: cst.BaseExpression


def bindings(tree: cst.Module, name: str) -> list[Binding] | None:
    """Return all places of a function that bind a name, parameters aside.

    None if some do it other than by assigning or iterating, or if it is not only the function's own.
    What a comprehension or a function inside of this one binds is theirs.
    """
    function = function_of(tree)
    if function is None:
        return None
    found: list[Binding] = []
    for node in _own_nodes(function):
        if isinstance(node, cst.Assign):
            for one in node.targets:
                found += _assigned(one.target, node.value, name)
        elif isinstance(node, cst.AnnAssign | cst.NamedExpr):
            if node.value is not None:
                found += _assigned(node.target, node.value, name)
        elif isinstance(node, cst.For):
            found += _iterated(node.target, node.iter, name)
        elif isinstance(node, cst.AugAssign) and _is(node.target, name):
            if not isinstance(node.operator, _KEEPING):
                return None
            found.append(Binding(Way.VALUE, node.value))
        elif _binds_otherwise(node, name):
            return None
    return found


def parameter(tree: cst.Module, name: str) -> cst.Param | None:
    """Return the parameter with a name of the function that a tree is of; None if it has none."""
    function = function_of(tree)
    if function is None:
        return None
    given = function.params
    named = (*given.posonly_params, *given.params, *given.kwonly_params)
    return next((one for one in named if one.name.value == name), None)


def is_bound_elsewhere(tree: cst.Module, name: str, at: cst.CSTNode) -> bool:
    """Return whether a function may bind a name anywhere but in one statement, parameters aside."""
    function = function_of(tree)
    if function is None:
        return True
    inside = frozenset(_all(at))
    return any(_binds(one, name) for one in _own_nodes(function) if one not in inside)


def binds_in(node: cst.CSTNode, name: str) -> bool:
    """Return whether anything in a piece of code binds a name, comprehensions aside."""
    return any(_binds(one, name) for one in _all(node))


def is_parameter_or_bound_before(tree: cst.Module, name: str, node: cst.CSTNode) -> bool:
    """Return whether a name has a value where a statement of a function begins.

    It is a parameter, or a statement of a block around the place assigns it before.
    """
    function = function_of(tree)
    if function is None:
        return False
    return parameter(tree, name) is not None or _assigns_before(function.body, name, node) is True


def _assigns_before(block: cst.CSTNode, name: str, node: cst.CSTNode) -> bool | None:
    """Return whether a block assigns a name before it comes to a node; None if it has none such."""
    if not isinstance(block, cst.IndentedBlock):
        return None
    is_assigned = False
    for statement in block.body:
        if statement is node:
            return is_assigned
        if isinstance(statement, cst.SimpleStatementLine):
            for small in statement.body:
                targets = small.targets if isinstance(small, cst.Assign) else ()
                is_assigned = is_assigned or any(
                    _holds_plainly(one.target, name) for one in targets
                )
        for inner in _blocks(statement):
            found = _assigns_before(inner, name, node)
            if found is not None:
                return is_assigned or found
    return None


def _blocks(statement: cst.BaseStatement) -> Iterator[cst.CSTNode]:
    level: list[cst.CSTNode] = list(statement.children)
    while level:
        one = level.pop()
        if isinstance(one, cst.IndentedBlock):
            yield one
        elif not isinstance(one, cst.BaseExpression):
            level.extend(one.children)


def _holds_plainly(target: cst.BaseExpression, name: str) -> bool:
    items = _plain_items(target) if isinstance(target, cst.Tuple | cst.List) else None
    return any(_is(one, name) for one in items or (target,))


# An integer stays one when an integer is added to it in one of these ways, and a text stays a text.
_KEEPING = (cst.AddAssign, cst.SubtractAssign, cst.MultiplyAssign)


def function_of(tree: cst.Module) -> cst.FunctionDef | None:
    """Return the function that a tree is of, None for the body of a module."""
    body: Sequence[cst.BaseStatement] = list(tree.body)
    # A method is parsed inside of something that its indentation belongs to.
    while len(body) == 1 and isinstance(body[0], cst.If):
        block = body[0].body
        body = list(block.body) if isinstance(block, cst.IndentedBlock) else []
    return next((one for one in body if isinstance(one, cst.FunctionDef)), None)


def _own_nodes(function: cst.FunctionDef) -> Iterator[cst.CSTNode]:
    """Yield the nodes of a function's body; of functions and classes inside the heads alone.

    What those say of names of the function around them, by `nonlocal`, is yielded too.
    """
    level: list[cst.CSTNode] = [function.body]
    while level:
        node = level.pop()
        yield node
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            yield from (one for one in _all(node.body) if isinstance(one, cst.NameItem))
        elif not isinstance(node, cst.Lambda):
            level.extend(node.children)


def _assigned(
    target: cst.BaseExpression, value: cst.BaseExpression, name: str
) -> Iterator[Binding]:
    if _is(target, name):
        yield Binding(Way.VALUE, value)
    elif isinstance(target, cst.Tuple | cst.List):
        parts = _plain_items(target)
        values = _plain_items(value) if isinstance(value, cst.Tuple) else None
        if parts and values and len(parts) == len(values):
            for part, one in zip(parts, values, strict=True):
                yield from _assigned(part, one, name)
        elif _holds(target, name):
            is_item = any(_is(part, name) for part in parts or ())
            yield Binding(Way.ITEM if is_item else Way.WITHIN, value)


def _iterated(
    target: cst.BaseExpression, source: cst.BaseExpression, name: str
) -> Iterator[Binding]:
    if _is(target, name):
        yield Binding(Way.ITEM, source)
    elif isinstance(target, cst.Tuple | cst.List) and _holds(target, name):
        parts = _plain_items(target) or []
        is_first = len(parts) == 2 and _is(parts[0], name) and not _holds(parts[1], name)
        yield Binding(Way.FIRST if is_first else Way.WITHIN, source)


def _plain_items(node: cst.Tuple | cst.List) -> list[cst.BaseExpression] | None:
    """Return the items of a tuple or list, None if one of them stands for several."""
    if any(isinstance(one, cst.StarredElement) for one in node.elements):
        return None
    return [one.value for one in node.elements]


def _binds(node: cst.CSTNode, name: str) -> bool:
    if isinstance(node, cst.AssignTarget | cst.AnnAssign | cst.AugAssign | cst.NamedExpr | cst.For):
        return _holds(node.target, name)
    return _binds_otherwise(node, name)


def _binds_otherwise(node: cst.CSTNode, name: str) -> bool:
    if isinstance(node, cst.FunctionDef | cst.ClassDef):
        return _is(node.name, name)
    if isinstance(node, cst.ImportAlias):
        whole = node.asname.name if node.asname is not None else _root(node.name)
        return _is(whole, name)
    if isinstance(node, cst.ImportStar):
        return True
    if isinstance(node, cst.NameItem):  # of `global` and `nonlocal`
        return _is(node.name, name)
    if isinstance(node, cst.AsName):  # of `with`, `except` and `import`
        return _holds(node.name, name)
    if isinstance(node, cst.MatchAs | cst.MatchStar):
        return node.name is not None and _is(node.name, name)
    if isinstance(node, cst.MatchMapping):
        return node.rest is not None and _is(node.rest, name)
    return isinstance(node, cst.Del) and _holds(node.target, name)


def _root(node: cst.BaseExpression) -> cst.BaseExpression:
    while isinstance(node, cst.Attribute):
        node = node.value
    return node


def _is(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _holds(node: cst.CSTNode, name: str) -> bool:
    return any(_is(one, name) for one in _all(node))


def _all(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    level = [node]
    while level:
        one = level.pop()
        yield one
        level.extend(one.children)
