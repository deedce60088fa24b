"""Selected rows that get a dimension in front of them and lose it again: `x[None, rows].reshape(-1, n)`."""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.literals import number
from capturelint.rewrite.masks import Selection
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rule import method_call


def flattened(node: cst.Call, selection: Selection, facts: Observed) -> cst.Subscript | None:
    """Return the rows themselves, `x[rows]`, in place of a call that gives just these; None for others."""
    called = method_call(node)
    if called is None or called[1] not in ("reshape", "view"):
        return None
    lifted, given = called[0], [arg.value for arg in node.args]
    if not isinstance(lifted, cst.Subscript) or facts.text(lifted.slice[0].slice) != "None":
        return None
    rest = lifted.slice[1:]
    is_row = len(rest) == 1 and isinstance(rest[0].slice, cst.Index)
    if not is_row or not selection.refers(cst.ensure_type(rest[0].slice, cst.Index).value):
        return None
    is_flat = len(given) == 2 and number(given[0]) == -1 and not impurity(given[1], facts)
    shapes = [one.shape for whole in (node, lifted.value) for one in facts.seen(whole)]
    is_same = {len(one) for one in shapes} == {2} and len({one[1] for one in shapes}) == 1
    return lifted.with_changes(slice=rest) if is_flat and is_same else None
