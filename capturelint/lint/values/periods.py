"""Tests that hold every so many steps: `if step % log_every == 0:`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_STEP = re.compile(r"(?:^|_)(?:steps?|iters?|iterations?|epochs?|it)(?:$|_)", re.IGNORECASE)

_LOGGER = re.compile(
    r"(?:^|_)(?:log|logs|logger|loggers|logging|writer|tracker|wandb|tensorboard)$"
)


def is_periodic(test: ast.expr) -> bool:
    """Return whether a condition holds only at every n-th step, or at one certain step besides."""
    if not isinstance(test, ast.BoolOp):
        return _is_multiple(test)
    if isinstance(test.op, ast.And):
        return any(map(is_periodic, test.values))
    return any(map(is_periodic, test.values)) and all(
        is_periodic(value) or _is_one_step(value) for value in test.values
    )


def is_report(test: ast.expr) -> bool:
    """Return whether a condition holds at every n-th step, or each step where somebody logs."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or):
        return False
    return any(map(is_periodic, test.values)) and all(
        is_periodic(value) or _is_one_step(value) or _is_logger(value) for value in test.values
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


def _is_multiple(test: ast.expr) -> bool:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_remainder(test.operand)
    return (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.ops[0], ast.Eq)
        and _is_remainder(test.left)
    )


def _is_remainder(node: ast.expr) -> bool:
    """Return whether an expression is `step % n`, where `n` is not small and written out.

    A name must say that steps are counted: layers and rows are all passed in each step.
    """
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod):
        return False
    if not any(_STEP.search(text) for text in _words(node.left)):
        return False
    return not isinstance(node.right, ast.Constant) or (
        isinstance(node.right.value, int) and node.right.value >= 10
    )


def _words(node: ast.expr) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def _is_one_step(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.ops[0], ast.Eq)
        and isinstance(test.comparators[0], ast.Constant)
    )
