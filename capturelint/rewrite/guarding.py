"""What a turn of a loop reads once the loop is done, so that no NaN reaches a gradient."""

from __future__ import annotations

import libcst as cst

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
    places = floating_in(value, facts) if facts.wants_gradients and is_steep(value) else ()
    for place in places:
        text = read = facts.text(place)
        if text in held:
            continue
        held[text] = facts.fresh(f"{last_name(place)}_safe", frozenset(held.values()))
        if isinstance(place, cst.Call):
            read = facts.fresh(f"{last_name(place)}_", frozenset(held.values()))
            lines.append(f"{read} = {text}")
        other = f"{torch}.full_like({read}, {HARMLESS[0]})"
        lines.append(f"{held[text]} = {WHERE}({done}, {other}, {read})")
    return lines, held
