"""The steps of statements, with the blocks around them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from capturelint.lint.sites.expressions import read
from capturelint.lint.sites.places import constant_keywords, key_of
from capturelint.lint.sites.steps import Steps
from capturelint.site import Block, Deed, Inside


def run(steps: Steps, body: Sequence[ast.stmt]) -> None:
    """Note the steps of statements, in order."""
    for node in body:
        _statement(steps, node)


def define(steps: Steps, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Note the steps of a function, in a block of its own."""
    decorators = tuple(
        steps.named(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list
    )
    block = Block(
        Inside.FUNCTION,
        steps.number(),
        name=node.name,
        keywords=tuple((d, True) for d in decorators),
    )
    with steps.block(block):
        run(steps, node.body)


def _statement(steps: Steps, node: ast.stmt) -> None:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if not steps.is_script:
            define(steps, node)
    elif isinstance(node, ast.ClassDef):
        return  # Its methods are a site of their own, if they are one.
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        _assign(steps, node)
    elif isinstance(node, ast.Return):
        if node.value is not None:
            read(steps, node.value, "returned")
        steps.add(Deed.LEAVE, "", node)
    elif isinstance(node, (ast.If, ast.Try, ast.Match)) or type(node).__name__ == "TryStar":
        _branches(steps, node)
    elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        _loop(steps, node)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        _with(steps, node)
    else:
        _plain(steps, node)


def _plain(steps: Steps, node: ast.stmt) -> None:
    if isinstance(node, ast.Assert):
        read(steps, node.test, "test")
    elif isinstance(node, ast.Expr):
        read(steps, node.value)
    elif isinstance(node, ast.Delete):
        for target in node.targets:
            steps.add(Deed.BIND, key_of(target), target, how="deleted")


def _assign(steps: Steps, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
    if node.value is None:
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if isinstance(node, ast.AugAssign):
        # `x += y` works in place on a tensor.
        read(steps, node.value, "operand")
        steps.add(Deed.WRITE, key_of(node.target), node)
        return
    how = "stored"
    if any(isinstance(target, ast.Subscript) for target in targets):
        how = "copied" if any(_is_item_of_tensor(steps, target) for target in targets) else "put"
    read(steps, node.value, how)
    for target in targets:
        _bind(steps, target, node.value)


def _is_item_of_tensor(steps: Steps, target: ast.expr) -> bool:
    """Return whether storing to a target copies into a tensor; a dict only keeps what it is given."""
    if not isinstance(target, ast.Subscript):
        return False
    parts = ast.walk(target.slice)
    has_slice = any(
        isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value is ...)
        for part in parts
    )
    return has_slice or steps.known(target.value).is_tensor


def _bind(steps: Steps, target: ast.expr, source: ast.expr | None) -> None:
    if isinstance(target, (ast.Tuple, ast.List, ast.Starred)):
        inner = [target.value] if isinstance(target, ast.Starred) else target.elts
        values = source.elts if isinstance(source, (ast.Tuple, ast.List)) else []
        for number, part in enumerate(inner):
            _bind(steps, part, values[number] if len(values) == len(inner) else None)
        return
    names, how = _made_of(source), _made(source)
    if isinstance(target, ast.Subscript):
        read(steps, target.slice)
        steps.add(Deed.WRITE, key_of(target.value), target, how=how, names=names)
        return
    call = source.func if isinstance(source, ast.Call) else None
    steps.add(
        Deed.BIND,
        key_of(target),
        target,
        name="" if call is None else steps.named(call),
        how=how,
        names=names,
        keywords=() if source is None else constant_keywords(source),
        value=steps.known(source if source is not None else target),
    )


def _made_of(source: ast.expr | None) -> tuple[str, ...]:
    """Return the names and attributes in an expression; its own, if it is one of them, is the last."""
    if source is None:
        return ()
    own = key_of(source)
    found = {key for part in ast.walk(source) if (key := key_of(part))}
    return (*sorted(found - {own}), *((own,) if own else ()))


def _made(source: ast.expr | None) -> str:
    """Return `alias` for a plain name, `call:f` or `method:m` for a call, else ``."""
    if source is None:
        return ""
    if isinstance(source, ast.Call):
        function = source.func
        return f"method:{function.attr}" if isinstance(function, ast.Attribute) else "call"
    return "alias" if key_of(source) else ""


def _branches(steps: Steps, node: ast.stmt) -> None:
    number = steps.number()
    if isinstance(node, ast.If):
        read(steps, node.test, "test")
        arms = [node.body, node.orelse]
    elif isinstance(node, ast.Match):
        read(steps, node.subject, "test")
        arms = [case.body for case in node.cases]
    else:
        # What a handler does comes after a failure: an arm of its own.
        arms = [handler.body for handler in getattr(node, "handlers", [])]
        _attempt(steps, getattr(node, "body", []), arms)
        run(steps, getattr(node, "orelse", []))
    for arm, block in enumerate(arms):
        with steps.block(Block(Inside.BRANCH, number, arm)):
            run(steps, block)
    run(steps, getattr(node, "finalbody", []))


def _attempt(steps: Steps, body: list[ast.stmt], handlers: list[list[ast.stmt]]) -> None:
    """Run the body of a `try`. A handler that ends in `raise` does not go on from a failure."""
    if all(isinstance(handler[-1], ast.Raise) for handler in handlers):
        run(steps, body)
        return
    with steps.block(Block(Inside.ATTEMPT, steps.number())):
        run(steps, body)


def _loop(steps: Steps, node: ast.For | ast.AsyncFor | ast.While) -> None:
    if isinstance(node, ast.While):
        read(steps, node.test, "test")
    else:
        read(steps, node.iter)
    with steps.block(Block(Inside.LOOP, steps.number())):
        if not isinstance(node, ast.While):
            _bind(steps, node.target, None)
        run(steps, node.body)
    run(steps, node.orelse)


def _with(steps: Steps, node: ast.With | ast.AsyncWith) -> None:
    before = steps.blocks
    begun = 0
    for item in node.items:
        expression = item.context_expr
        block = steps.enter(item)
        if block is None:
            begun += 1
            continue
        if isinstance(expression, ast.Call):
            read(steps, expression)
        steps.blocks = (*steps.blocks, block)
        if item.optional_vars is not None:
            _bind(steps, item.optional_vars, None)
    run(steps, node.body)
    for _ in range(begun):
        steps.end()
    steps.blocks = before
