"""Arms outside captured regions that no capture would hold: reports, and stand-ins for arguments."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence

from capturelint.kind import UNKNOWN
from capturelint.lint.values.frame import Frame, chain_text
from capturelint.lint.values.periods import is_periodic, is_report
from capturelint.lint.values.step_counts import counted
from capturelint.lint.values.walk import branches

_READ_METHODS = frozenset({"item", "tolist", "cpu", "numpy"})
_READ_FUNCTIONS = frozenset({"int", "float", "bool"})


def set_aside(frame: Frame, node: ast.If, *, certain: bool | None) -> frozenset[bool]:
    """Return the outcomes of a test whose arms are not looked at outside of captured code.

    `certain`: the outcome, where it is known.
    """
    surroundings = frame.analysis.surroundings
    if not surroundings.is_outside(frame.function):
        return frozenset()
    test = _condition(frame, node)
    counts = _counted(frame, test, node.lineno)
    is_extra = surroundings.is_extra(frame.function)
    if is_periodic(test, counts) or (is_extra and is_report(test, counts)):
        return frozenset((True,))
    if is_periodic(test, counts, outcome=False):
        return frozenset((False,))
    if not is_extra or certain is not None:
        return frozenset()
    return _stand_ins(node, _may_be_left_out(frame))


def is_rest_aside(frame: Frame, node: ast.If) -> bool:
    """Return whether what follows runs only every so many steps: `if step % log_every: return`."""
    is_guard = not node.orelse and isinstance(node.body[-1], (ast.Return, ast.Continue))
    if not is_guard or not frame.analysis.surroundings.is_outside(frame.function):
        return False
    test = _condition(frame, node)
    return is_periodic(test, _counted(frame, test, node.lineno), outcome=False)


def _condition(frame: Frame, node: ast.If) -> ast.expr:
    """Return the test of a branch; of one on a flag, what the flag stands for."""
    test = node.test
    is_flag = isinstance(test, ast.Name) and test.id in frame.flags
    return frame.flags[test.id].test if is_flag and isinstance(test, ast.Name) else test


def _counted(frame: Frame, test: ast.expr, line: int) -> frozenset[str]:
    """Return what counts steps where a test on a remainder stands."""
    function = frame.function
    has_remainder = any(isinstance(node, ast.Mod) for node in ast.walk(test))
    node = frame.analysis.entrance.body_of(function) if has_remainder and function else None
    if function is None or node is None:
        return frozenset()
    state = frame.analysis.states.get(function.index)
    is_step = state is not None and state.is_start and not state.loop_line
    return counted(node.body, line, is_step=is_step)


def _may_be_left_out(frame: Frame) -> set[str]:
    """Return the parameters that are None by default, and still what the call gave.

    Not those that each caller in sight leaves out.
    """
    function = frame.function
    signature = None if function is None else frame.analysis.entrance.signature(function)
    if function is None or signature is None:
        return set()
    state = frame.analysis.states.get(function.index)
    given = {} if state is None else state.params
    return {
        name
        for name, default in signature.defaults.items()
        if default.is_none and name in frame.kept.inputs and not given.get(name, UNKNOWN).is_none
    }


def _stand_ins(node: ast.If, optional: Container[str]) -> frozenset[bool]:
    """Return the outcome whose arm reads what a caller could have given, if there is one.

    `if lengths is None: lengths = ...`, and `if lengths is not None: n = f(lengths)` with an `else`
    that gets `n` otherwise.
    """
    operator: type[ast.boolop] | None = None
    parts: Sequence[ast.expr] = [node.test]
    if isinstance(node.test, ast.BoolOp):
        operator, parts = type(node.test.op), node.test.values
    for kind, missing in ((ast.Is, True), (ast.IsNot, False)):
        names = [_compared(part, kind) for part in parts]
        # Any of the arguments may be the one that is missing.
        is_any = operator in (None, ast.Or if missing else ast.And)
        if not is_any or not all(name in optional for name in names):
            continue
        arm, other = (node.body, node.orelse) if missing else (node.orelse, node.body)
        made = set(_targets(arm)) if _reads(arm) else set()
        is_same = bool(made.intersection(_targets(other))) and _mentions(other, names)
        if is_same or made.intersection(names):
            return frozenset((missing,))
    return frozenset()


def _compared(test: ast.expr, operator: type[ast.cmpop]) -> str:
    """Return the name in `name is None` (or `is not None`), else ""."""
    is_test = (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], operator)
        and isinstance(test.left, ast.Name)
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value is None
    )
    return chain_text(test.left) if is_test and isinstance(test, ast.Compare) else ""


def _targets(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield the names and attributes that statements assign."""
    for statement in body:
        for node in branches(statement):
            targets: list[ast.expr] = []
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
                targets = [node.target]
            for target in targets:
                several = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                yield from filter(None, map(chain_text, several))


def _reads(body: Sequence[ast.stmt]) -> bool:
    """Return whether statements bring a value to the host, so that a caller may have it there."""
    for statement in body:
        for node in branches(statement):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and called.attr in _READ_METHODS:
                return True
            value = node.value if isinstance(node, ast.Assign) else None
            # Inside of something else, such as a size, it may be a conversion of numbers.
            if isinstance(value, ast.Call) and chain_text(value.func) in _READ_FUNCTIONS:
                return True
    return False


def _mentions(body: Sequence[ast.stmt], names: Container[str]) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id in names
        for statement in body
        for node in ast.walk(statement)
    )
