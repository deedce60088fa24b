"""The statements over rows at some positions, written for all rows with a mask that says which count."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from capturelint.rewrite.blocks import read_names
from capturelint.rewrite.conditions import RefusedError, grouped, refuse
from capturelint.rewrite.distinct import degree, is_linear, names_a_row_once
from capturelint.rewrite.lines import ungrouped
from capturelint.rewrite.literals import number
from capturelint.rewrite.masks import HINT
from capturelint.rewrite.merging import ROWS, SIGNS
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.positions import ByPositions, Positions, first_index
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.regions import only_statement, target_of
from capturelint.rewrite.rows import Rows
from capturelint.rewrite.totality import partiality
from capturelint.rule import method_call

_ADDING, _COPYING = "index_add_", "index_copy_"
_LONG = 60  # characters, more of which would make long lines
_WORDS = ["dim", "index", "source"]
STORING = frozenset((_ADDING, _COPYING))


class Gathering:
    """Lines for all rows. `head`: those that say which rows count; `bound`: names that are no more.

    Raises `RefusedError` for what cannot be written so, here and in `lines`.
    """

    def __init__(
        self,
        found: Positions,
        statements: Sequence[cst.BaseStatement],
        facts: Observed,
        torch: str,
        harmless: str,
        *,
        is_sized: bool = False,
    ) -> None:
        self.head: list[str] = []
        self.bound = set(found.names) - {""}
        self._facts = facts
        self._found = found
        first = self._first_of(statements)
        view = self._view(statements) if is_sized else ""
        chosen, rows = self._masks(first, statements, view)
        self._selection = ByPositions(found, first, facts, chosen=chosen, rows=rows)
        self._rows = Rows(self._selection, facts, torch, harmless, is_naming=True)
        self._copies = (
            sum(not isinstance(self._bound_by(one), cst.Assign) for one in statements) > 1
        )
        self._read = frozenset[str]()
        self._degrees: dict[str, int] = {}
        self._once = names_a_row_once(found, facts)

    def _first_of(self, statements: Sequence[cst.BaseStatement]) -> int:
        """Return which positions name rows: those that come first wherever something is indexed."""
        names = {name for one in statements for name in _leading(one, self._found.names)}
        if len(names) != 1:
            reason = "the positions are not used as those of rows alone"
            raise refuse(self._facts, self._found.mask, "ROWS", reason, HINT)
        return self._found.names.index(names.pop())

    def _masks(
        self, first: int, statements: Sequence[cst.BaseStatement], view: str
    ) -> tuple[str, str]:
        """Write down the mask and which rows it has something of, in a view; return their names."""
        facts, mask = self._facts, self._found.mask
        why = impurity(mask, facts) or partiality(mask, facts)
        if why:
            raise refuse(facts, mask, "IMPURE", why, HINT)
        is_truth = all(one.dtype == "bool" for one in facts.seen(mask))
        chosen = facts.text(mask)
        if not isinstance(mask, cst.Name) or not is_truth:
            text = ungrouped(chosen) if is_truth else f"{grouped(mask, chosen)} != 0"
            chosen = facts.fresh("chosen_")
            self.head.append(f"{chosen} = {text}")
        elif any(chosen in _assigned(one) for one in statements):
            raise refuse(facts, mask, "MASK", "the mask is bound anew", HINT)
        is_one = len(self._found.names) == 1
        if is_one and not view:
            return chosen, chosen
        rows = facts.fresh("rows_")
        some = "" if is_one else f".any({-1 if first == 0 else 0})"
        self.head.append(f"{rows} = {chosen}{some}{view}")
        return chosen, rows

    def _view(self, statements: Sequence[cst.BaseStatement]) -> str:
        """Return a view that fails unless there is one element for each row, as one would stand for all rows."""
        held = next(filter(None, map(stored_in, statements)), None)
        bound = {name for one in statements for name in _assigned(one)}
        if held is None or not read_names(held).isdisjoint(bound):
            raise self._other(statements[0])
        return f".view({grouped(held, self._facts.text(held))}.shape[0])"

    @staticmethod
    def _bound_by(statement: cst.BaseStatement) -> cst.Assign | None:
        small = only_statement(statement)
        target = target_of(small)
        is_bound = isinstance(small, cst.Assign) and isinstance(target, cst.Name | cst.Tuple)
        return small if is_bound and isinstance(small, cst.Assign) else None

    def lines(self, statement: cst.BaseStatement) -> list[str]:
        """Return one statement for all rows, after what it needs."""
        last = self._line(statement)
        lines, self._rows.lines = [*self._rows.lines, last], []
        return lines

    def _line(self, statement: cst.BaseStatement) -> str:
        small = only_statement(statement)
        if isinstance(small, cst.Pass):
            return "pass"
        bound = self._bound_by(statement)
        if bound is not None:
            return self._assigned(bound)
        stored = self._store(small)
        if stored is None:
            raise self._other(statement)
        held, sign, value = stored
        self._read |= (read_names(held) | read_names(value)) - self._rows.packed
        self._check_once(statement, held, sign, value)
        return self._stored(held, sign, value)

    def _assigned(self, small: cst.Assign) -> str:
        target = small.targets[0].target
        anew = read_names(target) - self._rows.packed
        if not self._rows.is_packed(small.value) or anew & (self._read | read_names(small.value)):
            raise self._other(small)
        self._read |= read_names(small.value) - self._rows.packed
        if isinstance(target, cst.Tuple):
            names = [one.value.value for one in target.elements if isinstance(one.value, cst.Name)]
            if len(names) != len(target.elements) or self._copies:
                raise self._other(small)
            text = self._rows.parts(small.value)
        else:
            assert isinstance(target, cst.Name), "a name or a tuple is bound"
            names = [target.value]
            # What was selected was a copy, which later writes did not reach.
            whole = self._rows.text(small.value)
            text = f"{whole}.clone()" if self._copies else ungrouped(whole)
        found = degree(small.value, self._found, self._degrees)
        self._degrees.update(dict.fromkeys(names, found if len(names) == 1 else 2 * found))
        self._rows.hold(names, small.value)
        self.bound.update(names)
        return f"{', '.join(names)} = {text}"

    def _store(
        self, small: cst.BaseSmallStatement | None
    ) -> tuple[cst.BaseExpression, str, cst.BaseExpression] | None:
        """Return what a statement stores rows in, how (`=` or the sign of an update), and the rows."""
        target = target_of(small)
        if isinstance(target, cst.Subscript) and isinstance(small, cst.Assign | cst.AugAssign):
            is_row = len(target.slice) == 1 and self._selection.selects(target)
            sign = SIGNS.get(type(small.operator)) if isinstance(small, cst.AugAssign) else "="
            return (target.value, sign, small.value) if is_row and sign else None
        call = small.value if isinstance(small, cst.Expr) else None
        called = method_call(call) if isinstance(call, cst.Call) else None
        if not isinstance(call, cst.Call) or called is None:
            return None
        words = [None if one.keyword is None else one.keyword.value for one in call.args]
        if called[1] not in STORING or words not in ([None] * 3, _WORDS):
            return None
        dim, index, value = (one.value for one in call.args)
        if number(dim) != 0 or not self._selection.refers(index):
            return None
        return called[0], "+" if called[1] == _ADDING else "=", value

    def _stored(self, held: cst.BaseExpression, sign: str, value: cst.BaseExpression) -> str:
        facts, text = self._facts, self._facts.text(held)
        why = impurity(held, facts) or partiality(held, facts)
        if why:
            raise refuse(facts, held, "IMPURE", why, HINT)
        self._selection.check_rows(held)
        if any(one.dtype == "bool" for one in facts.seen(held)):
            raise refuse(facts, held, "MASK", "what is written may be the mask itself", HINT)
        rank = {len(one.shape) for one in facts.seen(held)}.pop()
        chosen = self._selection.over(rank)
        if sign == "=" and number(value) is not None:
            return f"{text}[{self._selection.over(1)}] = {facts.text(value)}"
        small = self._facts.nearest(value, cst.AugAssign)
        new = self._rows.text(value) if small is None else self._rows.safe(value, small)
        if len(new) > _LONG:
            new = self._rows.named("value_", ungrouped(new))
        new = ungrouped(new) if sign == "=" else f"{text} {sign} {new}"
        return f"{text}.copy_({ROWS}({chosen}, {new}, {text}))"

    def _check_once(
        self,
        statement: cst.BaseStatement,
        held: cst.BaseExpression,
        sign: str,
        value: cst.BaseExpression,
    ) -> None:
        """Raise if positions may name a row twice, and that is not the sum of both."""
        if self._once:
            return
        small = only_statement(statement)
        is_added = sign == "+" and isinstance(small, cst.Expr)
        if not is_added or not is_linear(value, self._found, self._degrees):
            what = self._facts.text(held)
            reason = f"a row of `{what}` may be named twice, and is not the sum of what is added"
            raise refuse(self._facts, statement, "TWICE", reason, HINT)

    def _other(self, node: cst.CSTNode) -> RefusedError:
        head = self._facts.text(node).split("\n")[0]
        return refuse(self._facts, node, "STATEMENT", f"`{head}` is not over the rows", HINT)


def stored_in(statement: cst.BaseStatement) -> cst.BaseExpression | None:
    """Return what a statement stores rows in, None if it does not."""
    small = only_statement(statement)
    target = target_of(small)
    if isinstance(target, cst.Subscript):
        return target.value
    call = small.value if isinstance(small, cst.Expr) else None
    called = method_call(call) if isinstance(call, cst.Call) else None
    return called[0] if called is not None and called[1] in STORING else None


def _leading(node: cst.CSTNode, names: tuple[str, ...]) -> set[str]:
    """Return the names of positions that are the first index of something inside a node."""
    found = set[str]()
    level = [node]
    while level:
        one = level.pop()
        first = first_index(one) if isinstance(one, cst.Subscript) else None
        called = method_call(one) if isinstance(one, cst.Call) else None
        if called is not None and called[1] in STORING and isinstance(one, cst.Call):
            first = one.args[1].value if len(one.args) > 1 else None
        if isinstance(first, cst.Name) and first.value in names:
            found.add(first.value)
        level.extend(one.children)
    return found


def _assigned(statement: cst.BaseStatement) -> frozenset[str]:
    target = target_of(only_statement(statement))
    return frozenset({target.value}) if isinstance(target, cst.Name) else frozenset()
