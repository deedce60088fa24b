"""Rows that are named by the positions where a mask is true, as `nonzero` and `torch.where` give them.

`(rows,) = torch.where(m)` and `rows = m.nonzero().squeeze(-1)` of a mask with one element for each row;
`rows, ks = torch.where(sel == e)` of one with some elements for each row, in either order.
"""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from capturelint.rewrite.conditions import grouped, refuse
from capturelint.rewrite.literals import number
from capturelint.rewrite.masks import HINT, is_everything, rank
from capturelint.rewrite.observation import Seen
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.regions import only_statement
from capturelint.rewrite.totality import partiality
from capturelint.rule import argument, method_call

_VIEWS = ("squeeze", "flatten", "view", "reshape")


@dataclass(frozen=True, slots=True)
class Positions:
    """Names bound to positions: for each dimension of a mask one, "" where it is not kept."""

    mask: cst.BaseExpression
    names: tuple[str, ...]


def positions_in(node: cst.CSTNode, facts: Observed) -> Positions | None:
    """Return what a statement binds to the positions of a mask, None if it does something else."""
    small = only_statement(node)
    if not isinstance(small, cst.Assign) or len(small.targets) > 1:
        return None
    target = small.targets[0].target
    names = _names(target)
    found = _one(small.value, facts) if isinstance(target, cst.Name) else _all(small.value, facts)
    if found is None or not names:
        return None
    dims = _dimensions(found, facts)
    if isinstance(target, cst.Name):
        is_first = isinstance(small.value, cst.Subscript) and _all(small.value.value, facts)
        if dims == 2 and is_first:
            names = (*names, "")
    return Positions(found, names) if dims == len(names) else None


def _names(target: cst.BaseExpression) -> tuple[str, ...]:
    if isinstance(target, cst.Name):
        return (target.value,)
    if not isinstance(target, cst.Tuple | cst.List):
        return ()
    values = [one.value for one in target.elements if isinstance(one, cst.Element)]
    names = tuple(one.value for one in values if isinstance(one, cst.Name))
    return names if len(names) == len(target.elements) and len(set(names)) == len(names) else ()


def _one(node: cst.BaseExpression, facts: Observed) -> cst.BaseExpression | None:
    """Return the mask of whose positions an expression is the first, or only, dimension."""
    if isinstance(node, cst.Subscript):
        *before, last = (one.slice for one in node.slice)
        if not isinstance(last, cst.Index) or number(last.value) != 0:
            return None
        if not before:
            return _all(node.value, facts)
        return (
            _table(node.value, facts) if [is_everything(one) for one in before] == [True] else None
        )
    called = method_call(node) if isinstance(node, cst.Call) else None
    if called is None or called[1] not in _VIEWS or not isinstance(node, cst.Call):
        return None
    given = [number(arg.value) for arg in node.args]
    # `squeeze()` alone would also drop the dimension of a single row.
    wanted = {"squeeze": ([-1], [1]), "flatten": ([],)}.get(called[1], ([-1],))
    return _table(called[0], facts) if given in wanted else None


def _table(node: cst.BaseExpression, facts: Observed) -> cst.BaseExpression | None:
    """Return the mask of one dimension whose positions are the rows of an expression."""
    found = _nonzero(node, facts, is_tuple=False)
    return found if found is not None and _dimensions(found, facts) == 1 else None


def _all(node: cst.BaseExpression, facts: Observed) -> cst.BaseExpression | None:
    """Return the mask whose positions an expression gives, a tensor for each dimension."""
    is_where = isinstance(node, cst.Call) and facts.full_name(node.func) == "torch.where"
    if isinstance(node, cst.Call) and is_where:
        return node.args[0].value if len(node.args) == 1 else None
    return _nonzero(node, facts, is_tuple=True)


def _nonzero(
    node: cst.BaseExpression, facts: Observed, *, is_tuple: bool
) -> cst.BaseExpression | None:
    if not isinstance(node, cst.Call):
        return None
    called, name = method_call(node), facts.full_name(node.func)
    given = [arg.value for arg in node.args if arg.keyword is None]
    if name == "torch.nonzero" and len(given) == 1:
        mask = given[0]
    elif not name and called is not None and called[1] == "nonzero" and not given:
        mask = called[0]
    else:
        return None
    words = [arg for arg in node.args if arg.keyword is not None]
    said = argument(node, "as_tuple")
    is_said = said is not None and facts.text(said) == "True"
    return mask if is_said == is_tuple and len(words) == is_said else None


def _dimensions(mask: cst.BaseExpression, facts: Observed) -> int:
    """Return how many dimensions a mask on the device has; 0 if it is none, or varies."""
    seen = facts.seen(mask)
    ranks = {len(one.shape) for one in seen}
    is_mask = bool(seen) and all(one.kind == "tensor" and one.device != "cpu" for one in seen)
    is_whole = all("float" not in one.dtype and "complex" not in one.dtype for one in seen)
    return ranks.pop() if is_mask and is_whole and len(ranks) == 1 else 0


class ByPositions:
    """What the positions of a mask select. `chosen`, `rows`: names of the mask and of its rows.

    `first`: which of the positions are those of rows.
    """

    rank = 1

    def __init__(
        self, found: Positions, first: int, facts: Observed, *, chosen: str, rows: str
    ) -> None:
        self._found = found
        self._facts = facts
        self._first = first
        self._chosen = chosen
        self._rows = rows
        # Calls with batches of other sizes have other shapes: which go together, their proof tells.
        self._shapes = {one.shape for one in facts.seen(found.mask)}

    def selects(self, node: cst.CSTNode) -> bool:
        """Return whether an expression is a tensor at the positions."""
        return isinstance(node, cst.Subscript) and self.refers(first_index(node))

    def refers(self, node: cst.CSTNode) -> bool:
        """Return whether an expression is a name of positions."""
        return isinstance(node, cst.Name) and node.value in self._found.names

    def over(self, rows: int) -> str:
        """Return the mask of rows, lifted to `rows` dimensions."""
        return f"{self._rows}[...{', None' * (rows - 1)}]" if rows > 1 else self._rows

    def whole(self, node: cst.Subscript) -> tuple[str, int]:
        """Return all rows of what is indexed; of what has an element for each choice, the chosen."""
        facts, held = self._facts, node.value
        why = impurity(held, facts) or partiality(held, facts)
        if why:
            raise refuse(facts, held, "IMPURE", why, HINT)
        self.check_rows(held)
        text = grouped(held, facts.text(held))
        rest = [one.slice for one in node.slice][1:]
        if not self._is_row(first_index(node)):
            raise refuse(facts, node, "ROWS", f"`{facts.text(node)}` is no row", HINT)
        if rest and isinstance(rest[0], cst.Index) and self.refers(rest[0].value):
            return self._weight(node, text, rest[1:]), rank(node, facts)
        if not all(self._is_basic(one) for one in rest):
            raise refuse(facts, node, "INDEX", "an index may be more than an integer", HINT)
        if not rest:
            return text, rank(held, facts)
        inner = ", ".join(facts.text(one) for one in rest)
        return f"{text}[:, {inner}]", rank(node, facts)

    def check_rows(self, node: cst.BaseExpression) -> None:
        """Raise unless a tensor has one row for each row of the mask."""
        rows = {one.shape[:1] for one in self._facts.seen(node)}
        if rows != {(shape[self._first],) for shape in self._shapes}:
            what = self._facts.text(node)
            reason = f"`{what}` has not as many rows as the mask"
            raise refuse(self._facts, node, "ROWS", reason, HINT)

    def _weight(self, node: cst.Subscript, text: str, rest: list[cst.BaseSlice]) -> str:
        """Return, for each row, the sum of the chosen elements of it, of which there is one."""
        facts = self._facts
        seen = facts.seen(node.value)
        shapes = {one if self._first == 0 else one[::-1] for one in self._shapes}
        names = self._found.names
        is_other = facts.text(node.slice[1].slice) == (*names, "")[1 - self._first]
        is_number = all("float" in one.dtype for one in seen)
        is_number = is_number and {one.shape for one in seen} == shapes
        if not is_other or not is_number or any(not _is_new(one, facts) for one in rest):
            reason = f"`{facts.text(node)}` is no number for each element of the mask"
            raise refuse(facts, node, "WEIGHT", reason, HINT)
        other = f"~{self._chosen}" if self._first == 0 else f"~{self._chosen}.t()"
        found = f"{text}.masked_fill({other}, 0).sum(-1)"
        return f"{found}[:{', None' * len(rest)}]" if rest else found

    def _is_row(self, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Name) and node.value == self._found.names[self._first]

    def _is_basic(self, part: cst.BaseSlice) -> bool:
        if not isinstance(part, cst.Index):
            return is_everything(part)
        is_int = type(number(part.value)) is int or _all_ints(self._facts.seen(part.value))
        return is_int or _is_new(part, self._facts)


def first_index(node: cst.Subscript) -> cst.CSTNode:
    """Return the first index of a subscript."""
    first = node.slice[0].slice
    return first.value if isinstance(first, cst.Index) else first


def _is_new(part: cst.BaseSlice, facts: Observed) -> bool:
    return facts.text(part) == "None"


def _all_ints(seen: frozenset[Seen]) -> bool:
    return bool(seen) and all(one.kind == "number" and one.name == "int" for one in seen)
