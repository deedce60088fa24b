"""Tests that hold every so many steps: `if step % log_every == 0:`."""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator

from capturelint.lint.values.frame import chain_text

_STEP = re.compile(r"(?:^|_)(?:steps?|iters?|iterations?|epochs?|it)(?:$|_)", re.IGNORECASE)
# A number of steps is no count of them; a small part of one has another sense.
_NUMBER_OF = re.compile(r"(?:^|_)(?:num|n|max|min|total)_", re.IGNORECASE)
_LEAST = 10

_LOGGER = re.compile(
    r"(?:^|_)(?:log|logs|logger|loggers|logging|writer|tracker|wandb|tensorboard)$"
)


def is_periodic(test: ast.expr, counted: Container[str] = (), *, outcome: bool = True) -> bool:
    """Return whether a test comes out so only at every n-th step, or at one certain step besides.

    `counted` are names and attributes that count steps, beside those that say so.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_periodic(test.operand, counted, outcome=not outcome)
    if not isinstance(test, ast.BoolOp):
        return _is_multiple(test, counted, outcome=outcome)
    parts = [is_periodic(value, counted, outcome=outcome) for value in test.values]
    if isinstance(test.op, ast.And) is outcome:
        return any(parts)
    return any(parts) and all(
        is_rare or _is_one_step(value, outcome=outcome)
        for is_rare, value in zip(parts, test.values, strict=True)
    )


def is_report(test: ast.expr, counted: Container[str] = ()) -> bool:
    """Return whether a condition holds at every n-th step, or each step where somebody logs."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or):
        return False
    parts = [is_periodic(value, counted) for value in test.values]
    return any(parts) and all(
        is_rare or _is_one_step(value) or _is_logger(value)
        for is_rare, value in zip(parts, test.values, strict=True)
    )


def _is_logger(test: ast.expr) -> bool:
    """Return whether a test asks whether there is a logger: `self.logger`, `writer is not None`."""
    if isinstance(test, ast.Compare):
        is_there = isinstance(test.ops[0], ast.IsNot) and isinstance(
            test.comparators[0], ast.Constant
        )
        test = test.left if is_there else test
    if isinstance(test, ast.Attribute):
        return bool(_LOGGER.search(test.attr))
    return isinstance(test, ast.Name) and bool(_LOGGER.search(test.id))


def _is_multiple(test: ast.expr, counted: Container[str], *, outcome: bool) -> bool:
    """Return whether a test asks for one remainder: `step % n == k`, or `step % n` being false."""
    if not isinstance(test, ast.Compare):
        return not outcome and _is_remainder(test, counted)
    if len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq if outcome else ast.NotEq):
        return False
    return _is_remainder(test.left, counted) or _is_remainder(test.comparators[0], counted)


def _is_remainder(node: ast.expr, counted: Container[str]) -> bool:
    """Return whether an expression is `step % n`, where `n` is not 1.

    A name must say that steps are counted, or be known to count them: layers and rows are all
    passed in each step.
    """
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod):
        return False
    least = 2
    if chain_text(_without_shift(node.left)) not in counted:
        said = [text for text in _words(node.left) if _STEP.search(text)]
        if not said:
            return False
        least = _LEAST if all(map(_NUMBER_OF.search, said)) else least
    divisor = node.right
    return not isinstance(divisor, ast.Constant) or (
        isinstance(divisor.value, int) and divisor.value >= least
    )


def _without_shift(node: ast.expr) -> ast.expr:
    """Return what a constant is added to in `i + 1`, else the expression itself."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        return node.left if isinstance(node.right, ast.Constant) else node
    return node


def _words(node: ast.expr) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def _is_one_step(test: ast.expr, *, outcome: bool = True) -> bool:
    return (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.ops[0], ast.Eq if outcome else ast.NotEq)
        and isinstance(test.comparators[0], ast.Constant)
    )
