"""What a boolean mask selects, written for all rows: `f(y[m])` as `f(y)`.

`f` must treat each row for itself. A row is what one element of the mask stands for.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.conditions import RefusedError, grouped, refuse
from capturelint.rewrite.literals import number
from capturelint.rewrite.merging import ROWS
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.totality import partiality
from capturelint.rule import method_call

HINT = "compute all rows, and choose with `torch.where` by the mask"
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
_OPERATORS = (cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power)


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


class Rows:
    """Texts of expressions over what one mask selects, for all rows.

    `packed`: names that hold selected rows. `harmless`: a number that stands in the rows that do not
    count, so that no NaN comes from them; "" for what is there.
    """

    def __init__(
        self, mask: cst.BaseExpression, facts: Observed, torch: str, harmless: str = ""
    ) -> None:
        self.packed: set[str] = set()
        self._mask = mask
        self._facts = facts
        self._torch = torch
        self._harmless = harmless
        self._rank = rank(mask, facts)

    def is_packed(self, node: cst.CSTNode) -> bool:
        """Return whether an expression holds rows that the mask selects."""
        if isinstance(node, cst.Name):
            return node.value in self.packed
        if self._selects(node):
            return True
        if isinstance(node, cst.Attribute):
            return self.is_packed(node.value)
        return any(self.is_packed(child) for child in node.children)

    def text(self, node: cst.BaseExpression) -> str:
        """Return an expression for all rows. Raises `RefusedError` if rows mix in it."""
        if not self.is_packed(node):
            return self._plain(node)
        if isinstance(node, cst.Name):
            return node.value
        if isinstance(node, cst.Subscript) and self._selects(node):
            return self._all_rows(node.value)
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, _OPERATORS):
            self._check_ranks(node, (node.left, node.right))
            sign = cst.Module([]).code_for_node(node.operator).strip()
            return f"({self.text(node.left)} {sign} {self.text(node.right)})"
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
            return f"(-{self.text(node.expression)})"
        if isinstance(node, cst.Call):
            return self._call(node)
        raise self._mixed(node)

    def _selects(self, node: cst.CSTNode) -> bool:
        found = mask_of(node, self._facts)
        return found is not None and self._facts.text(found) == self._facts.text(self._mask)

    def _all_rows(self, node: cst.BaseExpression) -> str:
        why = impurity(node, self._facts)
        if why:
            raise refuse(self._facts, node, "IMPURE", why, HINT)
        text, rows = self._facts.text(node), rank(node, self._facts)
        if not self._harmless:
            return grouped(node, text)
        chosen = lifted(self._mask, rows, self._facts)
        other = f"{self._torch}.full_like({text}, {self._harmless})"
        return f"{ROWS}({chosen}, {text}, {other})"

    def _plain(self, node: cst.BaseExpression) -> str:
        """Return the text of what is the same for all rows: a number, or one row of numbers."""
        facts = self._facts
        if number(node) is None:
            seen = facts.seen(node)
            if not seen:
                raise refuse(facts, node, "UNSEEN", f"`{facts.text(node)}` never ran", HINT)
            if any(one.kind not in ("tensor", "number") or one.shape for one in seen):
                raise self._mixed(node)
        why = impurity(node, facts) or partiality(node, facts)
        if why:
            raise refuse(facts, node, "IMPURE", why, HINT)
        return grouped(node, facts.text(node))

    def _call(self, node: cst.Call) -> str:
        facts = self._facts
        given = [arg.value for arg in node.args]
        is_plain = not any(arg.star or arg.keyword is not None for arg in node.args)
        called, name = method_call(node), facts.full_name(node.func)
        if is_plain and name in _FUNCTIONS:
            self._check_ranks(node, given)
            return f"{facts.text(node.func)}({', '.join(self.text(one) for one in given)})"
        if not name and self._is_rowwise(node) and is_plain and len(given) == 1:
            if rank(given[0], facts) < 2 or self.is_packed(node.func):
                raise self._mixed(node)
            return f"{facts.text(node.func)}({self.text(given[0])})"
        if is_plain and called is not None and not name and self.is_packed(called[0]):
            receiver, method = called
            if method in _METHODS:
                self._check_ranks(node, (receiver, *given))
                texts = ", ".join(self.text(one) for one in given)
                return f"{self.text(receiver)}.{method}({texts})"
            if method == "unsqueeze" and [number(one) for one in given] == [-1]:
                return f"{self.text(receiver)}.unsqueeze(-1)"
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
