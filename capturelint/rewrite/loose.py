"""Whether selected rows, written for all rows, may hold anything in those that do not count.

A harmless number stands there in what is selected. What a layer makes of it depends on its weights, and so
does what is computed with a parameter.
"""

from __future__ import annotations

from typing import Protocol

import libcst as cst

from capturelint.rewrite.masks import Selection
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.steep import is_layer

_LINEAR = "torch.nn.functional.linear"


class Names(Protocol):
    """What is known of names that hold selected rows."""

    packed: set[str]

    def is_loose_name(self, node: cst.Name) -> bool:
        """Return whether such a name may hold anything in rows that do not count."""


def is_loose(node: cst.CSTNode, names: Names, selection: Selection, facts: Observed) -> bool:
    """Return whether an expression may be anything in rows that do not count."""
    if isinstance(node, cst.Name) and node.value in names.packed:
        return names.is_loose_name(node)
    if isinstance(node, cst.Subscript) and selection.selects(node):
        return len(node.slice) > 1  # no number is put there
    if is_layer(node, facts) or (
        isinstance(node, cst.Call) and facts.full_name(node.func) == _LINEAR
    ):
        return True
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.MatrixMultiply):
        return True
    if isinstance(node, cst.Name | cst.Attribute) and facts.seen(node):
        return any(one.kind == "tensor" and "float" in one.dtype for one in facts.seen(node))
    if isinstance(node, cst.Arg | cst.Attribute):
        return is_loose(node.value, names, selection, facts)
    return any(is_loose(child, names, selection, facts) for child in node.children)
