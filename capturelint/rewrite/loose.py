"""Whether selected rows, written for all rows, may hold anything in those that do not count.

A harmless number stands there in what is selected. What a layer makes of it depends on its weights, and what
is computed with a number or a parameter on that.
"""

from __future__ import annotations

from typing import Protocol

import libcst as cst

from capturelint.rewrite.masks import Selection
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.steep import is_plain


class Names(Protocol):
    """What is known of names that hold selected rows."""

    packed: set[str]

    def is_loose_name(self, node: cst.Name) -> bool:
        """Return whether such a name may hold anything in rows that do not count."""


def is_loose(node: cst.BaseExpression, names: Names, selection: Selection, facts: Observed) -> bool:
    """Return whether an expression may be anything in rows that do not count."""

    def is_known(one: cst.CSTNode) -> bool:
        if isinstance(one, cst.Name) and one.value in names.packed:
            return not names.is_loose_name(one)
        # Where there is more than one index, no number is put.
        return isinstance(one, cst.Subscript) and selection.selects(one) and len(one.slice) == 1

    return not is_plain(node, is_known, facts)
