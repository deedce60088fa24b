"""What a turn of a loop reads once the loop is done, so that no NaN reaches a gradient."""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.blocks import renamed
from capturelint.rewrite.merging import WHERE
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.steep import HARMLESS, floating_in, is_steep, last_name


def guards(
    value: cst.BaseExpression, done: str, facts: Observed, torch: str
) -> tuple[list[str], dict[str, str]]:
    """Return lines that replace the tensors of a steep expression once `done` holds, and by what.

    Nothing for others, and where no gradients are wanted.
    """
    held: dict[str, str] = {}
    lines: list[str] = []

    def guard(node: cst.BaseExpression) -> None:
        for place in floating_in(node, facts):
            text = read = facts.text(place)
            if text in held:
                continue
            if not isinstance(place, cst.Name | cst.Attribute):
                if is_steep(place):
                    guard(place)
                read = facts.fresh(f"{last_name(place)}_", frozenset(held.values()))
                lines.append(f"{read} = {renamed(facts, place, held)}")
            held[text] = facts.fresh(f"{last_name(place)}_safe", frozenset((*held.values(), read)))
            other = f"{torch}.full_like({read}, {HARMLESS[0]})"
            lines.append(f"{held[text]} = {WHERE}({done}, {other}, {read})")

    if facts.wants_gradients and is_steep(value):
        guard(value)
    return lines, held
