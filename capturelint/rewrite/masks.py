"""What a boolean mask selects of a tensor. A row is what one element of the mask stands for."""

from __future__ import annotations

from typing import Protocol

import libcst as cst

from capturelint.rewrite.conditions import grouped, refuse
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity

HINT = "compute all rows, and choose with `torch.where` by the mask"


def mask_of(node: cst.CSTNode, facts: Observed) -> cst.BaseExpression | None:
    """Return the mask by which a subscript selects, None for other indices."""
    if not isinstance(node, cst.Subscript) or len(node.slice) != 1:
        return None
    index = node.slice[0].slice
    if not isinstance(index, cst.Index):
        return None
    seen = facts.seen(index.value)
    is_mask = bool(seen) and all(
        one.kind == "tensor" and one.dtype == "bool" and one.shape and one.device != "cpu"
        for one in seen
    )
    return index.value if is_mask else None


def is_everything(part: cst.BaseSlice) -> bool:
    """Return whether an element of a subscript is `:`."""
    bounds = (part.lower, part.upper, part.step) if isinstance(part, cst.Slice) else (part,)
    return all(one is None for one in bounds)


def rank(node: cst.CSTNode, facts: Observed) -> int:
    """Return the number of dimensions of a tensor. Raises `RefusedError` if that varies."""
    found = {len(one.shape) if one.kind == "tensor" else -1 for one in facts.seen(node)}
    if len(found) != 1 or found == {-1}:
        raise refuse(facts, node, "RANK", f"`{facts.text(node)}` varies in its dimensions", HINT)
    return found.pop()


def lifted(mask: cst.BaseExpression, rows: int, facts: Observed, *, negated: bool = False) -> str:
    """Return a mask as text that broadcasts against a tensor of `rows` dimensions."""
    text, missing = facts.text(mask), rows - rank(mask, facts)
    if missing:
        text = f"{grouped(mask, text)}[...{', None' * missing}]"
    elif negated:
        text = grouped(mask, text)
    return f"~{text}" if negated else text


class Selection(Protocol):
    """What selects rows. `rank`: how many dimensions the rows of what is selected from have."""

    rank: int

    def selects(self, node: cst.CSTNode) -> bool:
        """Return whether an expression is a tensor's selected rows."""
        ...

    def refers(self, node: cst.CSTNode) -> bool:
        """Return whether an expression itself has as many elements as there are selected rows."""
        ...

    def whole(self, node: cst.Subscript) -> tuple[str, int]:
        """Return all rows of what selected rows are of, as text, and how many dimensions it has."""
        ...

    def over(self, rows: int) -> str:
        """Return what says which rows count, as text that broadcasts against `rows` dimensions."""
        ...


class ByMask:
    """What a boolean mask selects."""

    def __init__(self, mask: cst.BaseExpression, facts: Observed) -> None:
        self.rank = rank(mask, facts)
        self._mask = mask
        self._facts = facts

    def selects(self, node: cst.CSTNode) -> bool:
        """Return whether an expression is what the mask selects of a tensor."""
        found = mask_of(node, self._facts)
        return found is not None and self._facts.text(found) == self._facts.text(self._mask)

    def refers(self, node: cst.CSTNode) -> bool:  # noqa: ARG002 - a selection
        """Return False: a mask has an element for each row."""
        return False

    def whole(self, node: cst.Subscript) -> tuple[str, int]:
        """Return the tensor that the mask selects from."""
        held = node.value
        why = impurity(held, self._facts)
        if why:
            raise refuse(self._facts, held, "IMPURE", why, HINT)
        return grouped(held, self._facts.text(held)), rank(held, self._facts)

    def over(self, rows: int) -> str:
        """Return the mask, lifted to `rows` dimensions."""
        return lifted(self._mask, rows, self._facts)
