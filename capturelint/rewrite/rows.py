"""What a mask or positions select, written for all rows: `f(y[m])` as `f(y)`.

`f` must treat each row for itself.
"""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from capturelint.rewrite.conditions import RefusedError, grouped, refuse
from capturelint.rewrite.flattening import flattened
from capturelint.rewrite.literals import number
from capturelint.rewrite.loose import is_loose
from capturelint.rewrite.masks import HINT, Selection, is_everything, rank
from capturelint.rewrite.merging import ROWS
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.steep import Steep, last_name, steep_in
from capturelint.rewrite.totality import partiality
from capturelint.rule import method_call

_WORDS = (
    "abs acos asin atan bfloat16 ceil clamp clone cos detach double erf exp expm1 float floor half"
    " isfinite isinf isnan log log10 log1p log2 long mul neg pow reciprocal relu round rsqrt sigmoid"
    " sign sin sqrt square tanh trunc add sub div"
)
_METHODS = frozenset(_WORDS.split())
_FUNCTIONS = frozenset(
    [f"torch.{name}" for name in _METHODS]
    + [
        f"torch.nn.functional.{name}"
        for name in (
            "relu gelu silu sigmoid tanh softplus leaky_relu elu logsigmoid hardswish mish relu6"
        ).split()
    ]
)
_WITH_A_NUMBER = frozenset(
    f"torch.nn.functional.{name}" for name in ("leaky_relu", "elu", "softplus")
)
_OPERATORS = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)


class Rows:
    """Texts of expressions over selected rows, for all rows.

    `packed`: names that hold selected rows. `harmless`: a number that stands in the rows that do not
    count, so that no NaN comes from them; "" for what is there.
    `lines`: what gives names to rows before they are used; with `is_naming` also to those that are selected.
    """

    def __init__(
        self,
        selection: Selection,
        facts: Observed,
        torch: str,
        harmless: str = "",
        *,
        is_naming: bool = False,
    ) -> None:
        self.packed: set[str] = set()
        self._loose: set[str] = set()
        self.lines: list[str] = []
        self._is_naming = is_naming
        self._taken: set[str] = set()
        self._selection = selection
        self._facts = facts
        self._torch = torch
        self._harmless = harmless

    def hold(self, names: Iterable[str], node: cst.BaseExpression) -> None:
        """Let names hold what an expression gives, which are rows that the mask selects."""
        if is_loose(node, self, self._selection, self._facts):
            self._loose.update(names)
        else:
            self._loose.difference_update(names)
        self.packed.update(names)

    def is_loose_name(self, node: cst.Name) -> bool:
        """Return whether a name of such rows may hold anything in those that do not count."""
        return node.value in self._loose

    def is_packed(self, node: cst.CSTNode) -> bool:
        """Return whether an expression holds rows that the mask selects."""
        if isinstance(node, cst.Name):
            return node.value in self.packed or self._selection.refers(node)
        if self._selection.selects(node):
            return True
        if isinstance(node, cst.Attribute):
            return self.is_packed(node.value)
        return any(self.is_packed(child) for child in node.children)

    def text(self, node: cst.BaseExpression) -> str:
        """Return an expression for all rows. Raises `RefusedError` if rows mix in it."""
        if not self.is_packed(node):
            return self._plain(node)
        if isinstance(node, cst.Name) and not self._selection.refers(node):
            return node.value
        if isinstance(node, cst.Subscript):
            return self._subscript(node)
        if isinstance(node, cst.BinaryOperation):
            return self._computed(node)
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
            return f"(-{self.text(node.expression)})"
        if isinstance(node, cst.Call):
            return self._call(node)
        raise self._mixed(node)

    def parts(self, node: cst.BaseExpression) -> str:
        """Return what selected rows are cut into along their last dimension, for all rows."""
        called = method_call(node) if isinstance(node, cst.Call) else None
        if isinstance(node, cst.Call) and called is not None and called[1] in ("chunk", "split"):
            words = [None if one.keyword is None else one.keyword.value for one in node.args]
            values = [number(one.value) for one in node.args]
            is_last = words in ([None, None], [None, "dim"]) and values[1:] == [-1]
            if is_last and type(values[0]) is int and rank(called[0], self._facts) > 1:
                given = ", ".join(self._facts.text(arg) for arg in node.args)
                return f"{self.text(called[0])}.{called[1]}({given})"
        raise self._mixed(node)

    def _subscript(self, node: cst.Subscript) -> str:
        if not self._selection.selects(node):
            return self._viewed(node)
        text, rows = self._selection.whole(node)
        if not self._harmless or len(node.slice) > 1:
            return text
        other = f"{self._torch}.full_like({text}, {self._harmless})"
        safe = f"{ROWS}({self._selection.over(rows)}, {text}, {other})"
        if not self._is_naming:
            return safe
        held = node.value
        name = last_name(held) if isinstance(held, cst.Name | cst.Attribute) else "rows"
        return self.named(f"{name}_safe", safe)

    def named(self, name: str, text: str) -> str:
        """Add a line that gives a name to a text, and return the name, which is a new one."""
        found = self._facts.fresh(name, frozenset(self._taken))
        self._taken.add(found)
        self.lines.append(f"{found} = {text}")
        return found

    def safe(self, node: cst.BaseExpression, around: Steep) -> str:
        """Return rows for all, with a harmless number where the slope of what is `around` them may be infinite."""
        text, facts = self.text(node), self._facts
        is_asked = bool(self._harmless) and facts.wants_gradients and self.is_packed(node)
        is_asked = is_asked and node in steep_in(around)
        is_float = all("float" in one.dtype for one in facts.seen(node))
        if not is_asked or not is_float or not is_loose(node, self, self._selection, facts):
            return text
        if not isinstance(node, cst.Name):
            text = self.named("value_", text)
        other = f"{self._torch}.full_like({text}, {self._harmless})"
        rows = self._selection.rank + rank(node, facts) - 1
        return f"{ROWS}({self._selection.over(rows)}, {text}, {other})"

    def _viewed(self, node: cst.Subscript) -> str:
        """Return a view of selected rows, such as `rows[:, None]` and `rows[..., :4]`."""
        first, *rest = (one.slice for one in node.slice)
        is_rest = isinstance(first, cst.Index) and isinstance(first.value, cst.Ellipsis)
        taken = [one for one in rest if not _is_new(one)]
        is_fixed = all(_is_fixed(one) for one in taken)
        is_kept = (is_everything(first) and self._selection.rank == 1) or is_rest
        # The rows themselves are the first dimension of what is selected.
        if is_kept and is_fixed and len(taken) < rank(node.value, self._facts):
            inner = ", ".join(self._facts.text(one) for one in node.slice)
            return f"{self.text(node.value)}[{inner}]"
        raise self._mixed(node)

    def _computed(self, node: cst.BinaryOperation) -> str:
        sign = cst.Module([]).code_for_node(node.operator).strip()
        if isinstance(node.operator, cst.MatrixMultiply) and not self.is_packed(node.right):
            self._check_wide(node.left)
            return f"({self.text(node.left)} @ {self._fixed(node.right, node, 2)})"
        if not isinstance(node.operator, _OPERATORS):
            raise self._mixed(node)
        sides = node.left, node.right
        self._check_ranks(node, sides)
        least = min(rank(one, self._facts) for one in sides if self.is_packed(one))
        texts = (
            self.safe(one, node) if self.is_packed(one) else self._plain(one, least)
            for one in sides
        )
        return f"({f' {sign} '.join(texts)})"

    def _plain(self, node: cst.BaseExpression, least: int = 1) -> str:
        """Return the text of what is the same for all rows: of fewer dimensions than `least`."""
        if number(node) is None and any(
            one.kind not in ("tensor", "number") or len(one.shape) >= least
            for one in self._facts.seen(node)
        ):
            reason = f"`{self._facts.text(node)}` may have a place for each that the mask selects"
            raise refuse(self._facts, node, "ROWS", reason, HINT)
        return self._always(node)

    def _always(self, node: cst.BaseExpression) -> str:
        """Return the text of what may be evaluated at all times."""
        facts = self._facts
        if number(node) is None and not facts.seen(node):
            raise refuse(facts, node, "UNSEEN", f"`{facts.text(node)}` never ran", HINT)
        why = impurity(node, facts) or partiality(node, facts)
        if why:
            raise refuse(facts, node, "IMPURE", why, HINT)
        return grouped(node, facts.text(node))

    def _fixed(self, node: cst.BaseExpression, around: cst.CSTNode, dimensions: int) -> str:
        """Return the text of what rows are multiplied with, or of what is added to each."""
        shapes = [one.shape for one in self._facts.seen(node) if one.kind == "tensor"]
        if self.is_packed(node) or {len(one) for one in shapes} != {dimensions}:
            raise self._mixed(around)
        return self._always(node)

    def _call(self, node: cst.Call) -> str:
        facts = self._facts
        given = [arg.value for arg in node.args]
        is_plain = not any(arg.star or arg.keyword is not None for arg in node.args)
        called, name = method_call(node), facts.full_name(node.func)
        if name == "torch.nn.functional.linear" and is_plain and len(given) in (2, 3):
            self._check_wide(given[0])
            texts = [self._fixed(one, node, 2 - at) for at, one in enumerate(given[1:])]
            return f"{facts.text(node.func)}({', '.join([self.text(given[0]), *texts])})"
        # What comes after the input of an activation may ask for the result in its place.
        most = 1 + (name in _WITH_A_NUMBER) if ".functional." in name else len(given)
        if is_plain and name in _FUNCTIONS and len(given) <= most:
            self._check_ranks(node, given)
            return f"{facts.text(node.func)}({', '.join(self.safe(one, node) for one in given)})"
        if not name and self._is_rowwise(node) and is_plain and len(given) == 1:
            if self.is_packed(node.func):
                raise self._mixed(node)
            self._check_wide(given[0])
            return f"{facts.text(node.func)}({self.text(given[0])})"
        if is_plain and called is not None and not name and self.is_packed(called[0]):
            receiver, method = called
            if method in _METHODS:
                self._check_ranks(node, (receiver, *given))
                texts = [self.safe(one, node) for one in given]
                return f"{self.safe(receiver, node)}.{method}({', '.join(texts)})"
            if method == "unsqueeze" and [number(one) for one in given] == [-1]:
                return f"{self.text(receiver)}.unsqueeze(-1)"
            if method == "to" and len(given) == 1 and self._is_type(given[0]):
                return f"{self.text(receiver)}.to({facts.text(given[0])})"
            flat = flattened(node, self._selection, facts)
            if flat is not None:
                return self._subscript(flat)
        raise self._mixed(node)

    def _is_type(self, node: cst.BaseExpression) -> bool:
        seen = self._facts.seen(node)
        is_fixed = not self.is_packed(node) and not impurity(node, self._facts)
        return is_fixed and bool(seen) and all(one.name == "dtype" for one in seen)

    def _check_wide(self, node: cst.BaseExpression) -> None:
        """Raise if what is treated row by row along its last dimension has no other."""
        if not self.is_packed(node) or rank(node, self._facts) < 2:
            raise self._mixed(node)

    def _is_rowwise(self, node: cst.Call) -> bool:
        seen = self._facts.seen(node.func)
        return bool(seen) and all(one.is_rowwise for one in seen)

    def _check_ranks(
        self, node: cst.CSTNode, parts: tuple[cst.BaseExpression, ...] | list[cst.BaseExpression]
    ) -> None:
        """Raise if parts of other dimensions would meet otherwise than they do among few rows."""
        found = {rank(one, self._facts) for one in parts if self.is_packed(one)}
        if len(found) > 1:
            raise self._mixed(node)

    def _mixed(self, node: cst.CSTNode) -> RefusedError:
        text = self._facts.text(node)
        reason = f"`{text}` may mix the rows that a mask selects, or keep as many as it selects"
        return refuse(self._facts, node, "ROWS", reason, HINT)


def _is_new(part: cst.BaseSlice) -> bool:
    return (
        isinstance(part, cst.Index)
        and isinstance(part.value, cst.Name)
        and part.value.value == "None"
    )


def _is_fixed(part: cst.BaseSlice) -> bool:
    """Return whether an element of a subscript is a written integer, or a slice between such."""
    if isinstance(part, cst.Index):
        return type(number(part.value)) is int
    bounds = (part.lower, part.upper, part.step) if isinstance(part, cst.Slice) else ()
    return bool(bounds) and all(one is None or type(number(one)) is int for one in bounds)
