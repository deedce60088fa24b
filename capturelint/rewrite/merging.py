"""Both arms of a branch run after each other, each name taken from the arm that counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import libcst as cst

from capturelint.rewrite.blocks import (
    assigned_names,
    else_of,
    names_in,
    renamed,
    statements_of,
)
from capturelint.rewrite.conditions import (
    check_evaluated_always,
    condition,
    grouped,
    reads_tensor,
    refuse,
)
from capturelint.rewrite.literals import number
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.steep import HINT, floating_in, is_steep, last_name
from capturelint.rewrite.totality import partiality
from capturelint.rewrite.uses import DIVIDED, is_compared, is_divided, loads, partners

# Stands for `torch.where` until a form is done, so that a trial can check what it chooses from.
WHERE = "__capturelint_where__"
# The same for a choice by a mask.
ROWS = "__capturelint_rows__"

SIGNS = {
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.DivideAssign: "/",
}
_NUMBER_HINT = "make it a tensor: `torch.full((), number, device=x.device)`"


class Merging:
    """Lines that compute both arms of a branch. `env` maps a name to what holds it in an arm.

    `harmless`: a number. What an arm computes with functions of infinite slope is then given it in
    place of its tensors while the arm does not count, so that no NaN reaches a gradient;
    with `is_thorough` whatever it computes. `is_bare`: some have been given what is there instead.
    `notes`: what the user must know of the lines.
    """

    def __init__(
        self, facts: Observed, torch: str, harmless: str = "", *, is_thorough: bool = False
    ) -> None:
        self.facts = facts
        self.lines: list[str] = []
        self.is_bare = False
        self.notes: tuple[str, ...] = ()
        self._torch = torch
        self._harmless = harmless
        self._is_thorough = is_thorough
        self._taken: set[str] = set()
        self._cond = ""
        self._selected = ""
        self._harmed: dict[str, str] = {}

    def branch(self, node: cst.If, env: dict[str, str], live: frozenset[str]) -> dict[str, str]:
        """Emit the condition and the arms of an `if`. Raises `RefusedError`.

        Return by name the text of what it holds afterwards, for those that are `live`.
        """
        cond = self.test(node, env)
        with self.counting(cond):
            first = self.arm(statements_of(node.body), env)
        with self.counting(f"{self._torch}.logical_not({cond})"):
            second = self.arm(else_of(node), env)
        return {
            name: self.choice(
                cond, *(arm.get(name, env.get(name, name)) for arm in (first, second))
            )
            for name in dict.fromkeys([*first, *second])
            if name in live
        }

    @contextmanager
    def counting(self, selected: str) -> Iterator[None]:
        """Emit inside what counts while `selected` is true."""
        before = self._selected, self._harmed
        if self._selected:
            selected = f"{self._torch}.logical_and({self._selected}, {selected})"
        self._selected, self._harmed = selected, {}
        yield
        self._selected, self._harmed = before

    def test(self, node: cst.If, env: dict[str, str]) -> str:
        """Emit the condition, and return the name that holds it."""
        if any(name.value in env for name in names_in(node.test)):
            raise refuse(self.facts, node, "ORDER", "an inner condition reads what its arm assigns")
        if self._selected:
            check_evaluated_always(self.facts, node.test)
        text = condition(self.facts, node.test, self._torch)
        cond = self._fresh("cond_")
        self.lines.append(f"{cond} = {text}")
        self._cond = cond
        return cond

    @staticmethod
    def choice(cond: str, first: str, second: str) -> str:
        """Return the text that chooses between two tensors."""
        return f"{WHERE}({cond}, {first}, {second})"

    def arm(self, statements: Sequence[cst.BaseStatement], outer: dict[str, str]) -> dict[str, str]:
        """Emit the statements of an arm, and return what holds the names that it assigns."""
        env = dict(outer)
        for statement in statements:
            if isinstance(statement, cst.If) and reads_tensor(self.facts, statement.test):
                # All that an inner branch assigns may be read by the rest of the arm.
                for name, text in self.branch(statement, env, assigned_names(statement)).items():
                    env[name] = self._held(name, text)
            elif isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    self._small(small, env)
            else:
                raise refuse(
                    self.facts, statement, "CONTROL", "an arm holds a loop or another branch"
                )
        return {name: held for name, held in env.items() if outer.get(name) != held}

    def _fresh(self, name: str) -> str:
        """Return a name that nothing in the file has, nor any line so far."""
        found = self.facts.fresh(name, frozenset(self._taken))
        self._taken.add(found)
        return found

    def _held(self, name: str, text: str) -> str:
        held = self._fresh(f"{name}_")
        self.lines.append(f"{held} = {text}")
        return held

    def _small(self, node: cst.BaseSmallStatement, env: dict[str, str]) -> None:
        if isinstance(node, cst.Pass) or (
            isinstance(node, cst.Expr) and isinstance(node.value, cst.SimpleString)
        ):
            return
        if isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name):
            env[node.target.value] = self._updated(node, node.target.value, env)
            return
        if not isinstance(node, cst.Assign) or len(node.targets) != 1:
            what = self.facts.text(node).split("\n")[0]
            raise refuse(self.facts, node, "STATEMENT", f"an arm does more than assign: `{what}`")
        target = node.targets[0].target
        if not isinstance(target, cst.Name):
            what = self.facts.text(target)
            raise refuse(self.facts, target, "TARGET", f"an arm assigns to `{what}`")
        value = self._number(target.value, node.value) or self.value(node.value, env)
        env[target.value] = self._held(target.value, value)

    def _number(self, name: str, node: cst.BaseExpression) -> str:
        """Return a written number as a tensor of the type that it is computed with; "" for others."""
        found = number(node)
        if found is None or isinstance(found, bool):
            return ""
        places = [place for place in loads(name, self.facts) if not self.facts.is_tensor(place)]
        kinds = frozenset[str]().union(*(partners(place, self.facts) for place in places))
        is_wide = kinds <= {"float32", "float64"}
        is_whole = isinstance(found, int) and kinds <= {"int32", "int64"}
        if len(kinds) != 1 or not (is_wide or is_whole):
            reason = f"`{self.facts.text(node)}` is a number, which is not used with one type alone"
            raise refuse(self.facts, node, "NUMBER", reason, _NUMBER_HINT)
        if any(is_compared(place, self.facts) for place in places):
            reason = f"`{name}` is compared as a number"
            raise refuse(self.facts, node, "NUMBER", reason, _NUMBER_HINT)
        if any(is_divided(place, self.facts) for place in places):
            self.notes = (DIVIDED,)
        kind = f"{self._torch}.{next(iter(kinds))}"
        return f"{self._torch}.full((), {self.facts.text(node)}, dtype={kind}, device={self._cond}.device)"

    def _updated(self, node: cst.AugAssign, name: str, env: dict[str, str]) -> str:
        """Emit `name += value` as a new tensor. That nothing else held the old one, a trial shows."""
        sign = SIGNS.get(type(node.operator))
        if sign is None:
            what = self.facts.text(node)
            raise refuse(self.facts, node, "STATEMENT", f"an arm does more than assign: `{what}`")
        if not isinstance(node.value, cst.BaseNumber) and not self.facts.seen(node.value):
            raise refuse(self.facts, node, "UNSEEN", f"`{self.facts.text(node)}` never ran")
        why = impurity(node.value, self.facts) or partiality(node.value, self.facts)
        if why:
            raise refuse(self.facts, node, "IMPURE", why)
        if is_steep(node):
            env = self._guarded(node.value, env)
        value = grouped(node.value, renamed(self.facts, node.value, env))
        return self._held(name, f"{env.get(name, name)} {sign} {value}")

    def value(self, node: cst.BaseExpression, env: dict[str, str]) -> str:
        """Return the text of a tensor that an arm makes, safe to evaluate at all times."""
        seen = self.facts.seen(node)
        if not seen and not isinstance(node, cst.BaseNumber):
            raise refuse(self.facts, node, "UNSEEN", f"`{self.facts.text(node)}` never ran")
        if not self.facts.is_tensor(node):
            reason = f"`{self.facts.text(node)}` is no tensor"
            raise refuse(self.facts, node, "NUMBER", reason, _NUMBER_HINT)
        why = impurity(node, self.facts) or partiality(node, self.facts)
        if why:
            raise refuse(self.facts, node, "IMPURE", why)
        if is_steep(node) or (self._is_thorough and not isinstance(node, cst.Name)):
            env = self._guarded(node, env)
        return renamed(self.facts, node, env)

    def _given_by(self, node: cst.BaseExpression, env: dict[str, str]) -> str:
        """Emit an expression, and return what holds what it gives."""
        if is_steep(node):
            env = self._guarded(node, env)
        return self._held(last_name(node), renamed(self.facts, node, env))

    def _guarded(self, node: cst.BaseExpression, env: dict[str, str]) -> dict[str, str]:
        """Return what to read in place of the floating tensors of an expression."""
        if not self._harmless:
            self.is_bare = self.is_bare or self.facts.wants_gradients
            return env
        places = list(floating_in(node, self.facts))
        if not places and self.facts.wants_gradients and number(node) is None and is_steep(node):
            reason = f"`{self.facts.text(node)}` may put NaN into gradients where it does not count"
            raise refuse(self.facts, node, "STEEP", reason, HINT)
        found, made = dict(env), set[str]()
        for place in places:
            text = self.facts.text(place)
            if text in made:
                continue
            made.add(text)
            is_named = isinstance(place, cst.Name | cst.Attribute)
            read = env.get(text, text) if is_named else self._given_by(place, env)
            if read not in self._harmed:
                held = self._fresh(f"{last_name(place)}_safe")
                other = f"{self._torch}.full_like({read}, {self._harmless})"
                self.lines.append(f"{held} = {WHERE}({self._selected}, {read}, {other})")
                self._harmed[read] = held
            found[text] = self._harmed[read]
        return found
