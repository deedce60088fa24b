"""Loops each of whose turns is for some rows, such as those over the experts of a model."""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.blocks import assigned_names, names_in, read_names, statements_of
from capturelint.rewrite.conditions import refuse
from capturelint.rewrite.observed import Observed

# bfloat16, width 2048 and 4096, 16 experts, 2 for each row; H200, torch 2.11.
_MEASURED = (
    "On an H200 a graph of such a loop, 8 times the work, took 0.36 of the time of the eager one before for 1"
    " row, 0.26 for 256, and 3.2 times its time for 8192"
)
_PRODUCTS = frozenset(f"torch.{name}" for name in "matmul mm nn.functional.linear".split())
_HINT = "`--all-experts` writes it so, which pays for few rows, as in decoding"


def choosing_loop(mask: cst.BaseExpression, node: cst.CSTNode, facts: Observed) -> cst.For | None:
    """Return the innermost loop around a node whose turns decide what a mask of it selects."""
    for loop in facts.around(node):
        if isinstance(loop, cst.For):
            names = frozenset(name.value for name in names_in(loop.target))
            if not read_names(mask).isdisjoint(_following(names, loop)):
                return loop
    return None


def _following(names: frozenset[str], loop: cst.For) -> frozenset[str]:
    """Return names, and those that statements of a loop which read them assign."""
    found = names
    for _ in range(len(statements_of(loop.body))):
        for one in statements_of(loop.body):
            if not read_names(one).isdisjoint(found):
                found |= assigned_names(one)
    return found


def multiplies(node: cst.CSTNode, facts: Observed) -> bool:
    """Return whether something in a piece of code calls a module, or multiplies by a matrix."""
    if isinstance(node, cst.Call):
        is_module = any(one.kind == "module" for one in facts.seen(node.func))
        if is_module or facts.full_name(node.func) in _PRODUCTS:
            return True
    is_product = isinstance(node, cst.MatrixMultiply)
    return is_product or any(multiplies(child, facts) for child in node.children)


def cost_of(loop: cst.For, mask: cst.BaseExpression, choices: int, facts: Observed) -> str:
    """Return in words what it costs that each turn of a loop is for all rows.

    `choices`: how many of the turns a row is selected in. Raises `RefusedError` unless the user
    allows it.
    """
    counts = facts.observation.counts
    turns = round(counts[facts.span(mask)] / max(counts[facts.span(loop.iter)], 1))
    if not facts.allowed.all_experts:
        raise refuse(facts, loop, "COST", *refusal_of(turns, choices))
    return f"{in_words(turns, choices)}. {_MEASURED}"


def refusal_of(turns: int, choices: int) -> tuple[str, str]:
    """Return why a loop of so many turns stays, `choices` of them for each row, and what to do."""
    return f"without a choice of rows, {in_words(turns, choices)}", _HINT


def in_words(turns: int, choices: int) -> str:
    """Return what it costs that all experts run on all rows."""
    times = f"{turns / choices:.3g} times the work of the experts"
    return f"all {turns} experts run on all rows, and {choices} of them for each: {times}"
