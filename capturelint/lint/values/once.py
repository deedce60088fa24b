"""Blocks that only the first call runs: a cache that is filled, an attribute made on demand."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

from capturelint.lint.values.frame import Frame, chain_text
from capturelint.lint.values.walk import branches

_PER_STEP = ("metadata", "batch", "input", "output", "context", "ctx", "state", "kwargs", "params")
_GROWERS = frozenset({"add", "append", "setdefault", "update"})


def origin(value: ast.expr) -> str:
    """Return the chain that `self.table` or `getattr(self, "table", None)` reads, else ""."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and len(value.args) > 1:
        key = value.args[1]
        if value.func.id != "getattr":
            return ""
        name = str(key.value) if isinstance(key, ast.Constant) else "*"
        chain = f"{chain_text(value.args[0])}.{name}"
        return chain if _is_lasting(chain) else ""
    while isinstance(value, ast.Subscript):
        value = value.value
    return next(_lasting(value), "")


def note_origin(frame: Frame, target: ast.expr, source: ast.expr) -> None:
    """Note that each thing a loop gives is held by what `for group in self.param_groups` names."""
    if isinstance(target, ast.Name):
        chain = origin(source)
        frame.origins.pop(target.id, None)
        if chain.startswith(f"{frame.self_name}."):
            frame.origins[target.id] = chain


def is_first_call_only(
    node: ast.If,
    stored_by: Callable[[str], Iterable[str]],
    origins: Mapping[str, str],
    given: Container[str],
) -> bool:
    """Return whether the body runs once: its test says that something is not there yet, and it makes it.

    `if self.table is None: self.table = ...`, `if key not in self.seen: self.seen.add(key)`,
    `if not hasattr(self, "table"): self.table = ...`, `if not self.ready: ...; self.ready = True`.
    `stored_by` gives the attributes that a method of self sets, for `if not self.ready: self.setup()`;
    `origins` the chain that a local name was read from, for `table = self.table`; `given` holds the
    names of parameters, which no call finds as the one before it left them.
    """
    wanted = {origins.get(name, name) for name in _said_missing(node.test)}
    wanted -= _given_anew(node.test, ast.Is, origins, given)
    wanted.update(origins[name] for name in _local_names(node.test, ast.Is) if name in origins)
    if wanted:
        if any(name in wanted for name in _filled(node.body)):
            return True
        if any(f"self.{name}" in wanted for name in _filled_by_methods(node.body, stored_by)):
            return True
    return _is_local_test(node.test, ast.Is) and any(map(_is_lasting, _filled_items(node.body)))


def is_memo_return(
    node: ast.If,
    rest: Sequence[ast.stmt],
    origins: Mapping[str, str],
    given: Container[str],
) -> bool:
    """Return whether `if key in cache: return cache[key]` precedes statements that fill the cache."""
    left = node.body[-1] if node.body else None
    if not isinstance(left, ast.Return) or node.orelse:
        return False
    if isinstance(node.test, ast.Call) and chain_text(node.test.func) == "hasattr":
        # A function that leaves, or gives the attribute, when it is there makes it, however it does.
        is_plain = isinstance(left.value, ast.Attribute | ast.Constant | ast.Subscript | type(None))
        if is_plain and node.test.args and chain_text(node.test.args[0]) == "self":
            return True
    wanted = set(_said_present(node.test))
    wanted -= _given_anew(node.test, ast.IsNot, origins, given)
    wanted.update(origins[name] for name in _local_names(node.test, ast.IsNot) if name in origins)
    if wanted and any(name in wanted for name in _filled(rest)):
        return True
    return _is_local_test(node.test, ast.IsNot) and any(map(_is_lasting, _filled_items(rest)))


def _given_anew(
    test: ast.expr, operator: type[ast.cmpop], origins: Mapping[str, str], given: Container[str]
) -> set[str]:
    """Return the parameters compared with None: they do not outlive the call, even one named `cache`."""
    names = _local_names(test, operator)
    return {name for name in names if name in given and name not in origins}


def _said_missing(test: ast.expr) -> Iterator[str]:
    """Yield the chains that a true test says are not there yet."""
    if isinstance(test, ast.BoolOp):
        parts = [list(_said_missing(value)) for value in test.values]
        # `a is None or n == 0` may hold at any call; both parts must speak of what lasts.
        if isinstance(test.op, ast.And) or all(parts):
            for part in parts:
                yield from part
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _said_present(test.operand)
        if isinstance(test.operand, ast.Attribute):
            yield chain_text(test.operand)
        elif isinstance(test.operand, ast.Call):
            yield from _lasting(test.operand)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        right = test.comparators[0]
        if isinstance(test.ops[0], ast.Is) and isinstance(right, ast.Constant):
            yield from _lasting(test.left)
        elif isinstance(test.ops[0], ast.NotIn):
            yield from _lasting(right)
        elif isinstance(test.ops[0], (ast.Lt, ast.Gt, ast.LtE, ast.GtE, ast.NotEq)):
            yield from _outgrown(test.left, right)


def _outgrown(left: ast.expr, right: ast.expr) -> Iterator[str]:
    """Yield the chains that `n > self.table.size(0)` or `key != self.key` says are out of date."""
    if isinstance(left, ast.Constant) or isinstance(right, ast.Constant):
        return
    for side in (left, right):
        for node in ast.walk(side):
            name = chain_text(node)
            if name.startswith("self."):
                yield name


def _said_present(test: ast.expr) -> Iterator[str]:
    """Yield the chains that a true test says are there already."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from _said_present(value)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        right = test.comparators[0]
        if isinstance(test.ops[0], ast.IsNot) and isinstance(right, ast.Constant):
            yield from _lasting(test.left)
        elif isinstance(test.ops[0], ast.In):
            yield from _lasting(right)
        elif isinstance(test.ops[0], ast.Eq):
            yield from _outgrown(test.left, right)
    elif isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and len(test.args) == 2:
        key = test.args[1]
        if test.func.id == "hasattr" and isinstance(key, ast.Constant):
            yield f"{chain_text(test.args[0])}.{key.value!s}"


def _lasting(node: ast.expr) -> Iterator[str]:
    """Yield the chain of what outlives the call: an attribute, or a module-level cache."""
    node = _asked(node)
    while isinstance(node, ast.Subscript):
        node = node.value
    name = chain_text(node)
    if _is_lasting(name):
        yield name


def _asked(node: ast.expr) -> ast.expr:
    """Return the container that `table.get(key)` asks, else the expression itself."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value if node.func.attr == "get" else node
    return node


def _is_lasting(name: str) -> bool:
    owner, _, attribute = name.partition(".")
    if not attribute:
        return owner.isupper() or owner.startswith("_") or "cache" in owner.lower()
    # What is handed in anew each step is filled anew each step.
    return not any(word in owner.lower() for word in _PER_STEP)


def _is_local_test(test: ast.expr, operator: type[ast.cmpop]) -> bool:
    """Return whether a test is `name is None`, or `is not`: of what a cache was asked for."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], operator)
        and isinstance(test.left, ast.Name)
        and isinstance(test.comparators[0], ast.Constant)
    )


def _local_names(test: ast.expr, operator: type[ast.cmpop]) -> Iterator[str]:
    """Yield the names that a test, or a part of it, compares with None."""
    for part in test.values if isinstance(test, ast.BoolOp) else [test]:
        if _is_local_test(part, operator) and isinstance(part, ast.Compare):
            yield chain_text(part.left)


def _filled_by_methods(
    body: Sequence[ast.stmt], stored_by: Callable[[str], Iterable[str]]
) -> Iterator[str]:
    """Yield the attributes that methods of self, called as statements, set."""
    for statement in body:
        called = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(called, ast.Call):
            owner, _, method = chain_text(called.func).partition(".")
            if owner == "self" and method:
                yield from stored_by(method)


def _filled_items(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the chains of containers of which statements set an item."""
    for statement in body:
        for node in branches(statement):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Subscript):
                        yield chain_text(target.value)


def _filled(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the chains that statements assign, fill or grow."""
    for statement in body:
        for node in branches(statement):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    yield from _targets(target)
            elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
                yield from _targets(node.target)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in _GROWERS:
                    yield chain_text(node.func.value)
                elif node.func.attr in ("register_buffer", "register_parameter") and node.args:
                    first = node.args[0]
                    if isinstance(first, ast.Constant):
                        yield f"{chain_text(node.func.value)}.{first.value!s}"
            elif isinstance(node, ast.Call) and chain_text(node.func) == "setattr":
                key = node.args[1] if len(node.args) > 1 else None
                name = str(key.value) if isinstance(key, ast.Constant) else "*"
                yield f"{chain_text(node.args[0])}.{name}" if node.args else ""


def _targets(target: ast.expr) -> Iterator[str]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _targets(element)
        return
    while isinstance(target, ast.Subscript):
        target = target.value
    yield chain_text(target)
