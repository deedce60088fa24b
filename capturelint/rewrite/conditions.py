"""A condition that reads a tensor on the host, as a tensor of one truth value."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from capturelint.rewrite.comparing import Held, Side, conversion
from capturelint.rewrite.form import Refusal
from capturelint.rewrite.literals import number
from capturelint.rewrite.observation import Seen
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.totality import partiality
from capturelint.rule import method_call

_HINT = "compute both outcomes and choose with `torch.where`"
_READS = frozenset(("builtins.bool", "builtins.float", "builtins.int"))


class RefusedError(Exception):
    """A pattern cannot be applied here."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


def refuse(
    facts: Observed, node: cst.CSTNode, code: str, reason: str, hint: str = _HINT
) -> RefusedError:
    """Return an error to raise, at the line of a node."""
    return RefusedError(Refusal(code, reason, hint, facts.span(node).line))


def conditions_in(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """Return the conditions of all branches, choices and loops in a piece of code."""
    own = [node.test] if isinstance(node, cst.If | cst.IfExp | cst.While) else []
    return own + [test for child in node.children for test in conditions_in(child)]


def reads_tensor(facts: Observed, test: cst.BaseExpression) -> bool:
    """Return whether a condition asks for the truth of a tensor on the device."""
    if isinstance(test, cst.BooleanOperation):
        return reads_tensor(facts, test.left) or reads_tensor(facts, test.right)
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return reads_tensor(facts, test.expression)
    if isinstance(test, cst.Comparison):
        sides = [test.left, *(link.comparator for link in test.comparisons)]
        if any(read_tensor(facts, side) is not None for side in sides):
            return True
        if len(test.comparisons) > 1:
            return any(facts.value(side).is_device_tensor for side in sides)
    return facts.value(test).is_device_tensor or read_tensor(facts, test) is not None


def read_tensor(facts: Observed, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the tensor that `t.item()`, `float(t)` and the like read, or None for others."""
    if not isinstance(node, cst.Call):
        return None
    called = method_call(node)
    if called is not None and called[1] == "item" and not node.args:
        found = called[0]
    elif facts.full_name(node.func) in _READS and len(node.args) == 1:
        found = node.args[0].value
    else:
        return None
    return found if facts.value(found).is_device_tensor else None


def condition(facts: Observed, test: cst.BaseExpression, torch: str) -> str:
    """Return a condition as the text of a 0-d truth value on the device. Raises `RefusedError`."""
    if isinstance(test, cst.BooleanOperation):
        name = "and" if isinstance(test.operator, cst.And) else "or"
        _check_unconditional(facts, test.right)
        left, right = (condition(facts, one, torch) for one in (test.left, test.right))
        return f"{torch}.logical_{name}({left}, {right})"
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return f"{torch}.logical_not({condition(facts, test.expression, torch)})"
    if isinstance(test, cst.Comparison):
        return _comparison(facts, test, torch)
    read = read_tensor(facts, test)
    tensor = test if read is None else read
    if not facts.is_tensor(tensor):
        raise _not_tensor(facts, test)
    if _reader(facts, test) == "builtins.int" and any(
        "float" in one for one in _dtypes(facts, tensor)
    ):
        raise refuse(facts, test, "DTYPE", f"`{facts.text(test)}` rounds what it reads")
    text = grouped(tensor, facts.text(tensor))
    is_plain = _dtypes(facts, tensor) == {"bool"}
    if _shapes(facts, test) == {()}:
        return text if is_plain else f"{text} != 0"
    return f"{text}.reshape(())" if is_plain else f"({text} != 0).reshape(())"


def _comparison(facts: Observed, test: cst.Comparison, torch: str) -> str:
    sides = [test.left, *(link.comparator for link in test.comparisons)]
    links = [link.operator for link in test.comparisons]
    if any(isinstance(one, cst.In | cst.NotIn | cst.Is | cst.IsNot) for one in links):
        raise _no_comparison(facts, test, sides, links)
    for side in sides[1:-1] + ([] if len(links) == 1 else sides[-1:]):
        _check_unconditional(facts, side)
    texts = [
        _compared(facts, side, [*sides[max(at - 1, 0) : at], *sides[at + 1 : at + 2]])
        for at, side in enumerate(sides)
    ]
    tensors = [side for side in sides if _is_compared_tensor(facts, side)]
    code = cst.Module([])
    found = ""
    for at, link in enumerate(links):
        if not any(side in tensors for side in sides[at : at + 2]):
            raise _not_tensor(facts, test)
        pair = f"{texts[at]} {code.code_for_node(link).strip()} {texts[at + 1]}"
        if any(_shapes(facts, side) != {()} for side in tensors):
            pair = f"({pair}).reshape(())"
        found = f"{torch}.logical_and({found}, {pair})" if found else pair
    return found


def _no_comparison(
    facts: Observed,
    test: cst.Comparison,
    sides: Sequence[cst.BaseExpression],
    links: Sequence[cst.BaseCompOp],
) -> RefusedError:
    """Return why `in` and `is` are no comparison of numbers."""
    is_in = any(isinstance(one, cst.In | cst.NotIn) for one in links)
    if is_in and any(_may_hold_tensors(one) for side in sides for one in facts.seen(side)):
        return refuse(facts, test, "COMPARISON", "`in` reads a tensor in its own way")
    what = f"`{facts.text(test)}` asks no tensor for its value, and stands beside what does"
    return refuse(facts, test, "PLAIN", what, "ask it in an `if` of its own, around the other")


def _may_hold_tensors(seen: Seen) -> bool:
    return seen.kind == "tensor" or seen.name in ("list", "tuple")


def _compared(
    facts: Observed, node: cst.BaseExpression, beside: Sequence[cst.BaseExpression]
) -> str:
    """Return a side of a comparison; what was read on the host is compared as precisely."""
    tensor = read_tensor(facts, node)
    if tensor is None:
        return grouped(node, facts.text(node))
    text = grouped(tensor, facts.text(tensor))
    found = {conversion(side_of(facts, node), side_of(facts, other)) for other in beside}
    added = found.pop() if len(found) == 1 else None
    if added is None:
        what = f"`{facts.text(node)}` is compared as a number, which its tensor may not be"
        raise refuse(facts, node, "DTYPE", what)
    return f"{text}{added}"


def side_of(facts: Observed, node: cst.BaseExpression) -> Side:
    """Return what is known of a side of a comparison."""
    tensor = read_tensor(facts, node)
    if tensor is not None:
        return Side(Held.READ, _read_kinds(facts, node, tensor))
    seen = facts.seen(node)
    if facts.is_tensor(node):
        return Side(Held.TENSOR, frozenset(one.dtype for one in seen))
    written = number(node)
    if written is not None:
        return Side(Held.NUMBER, frozenset({type(written).__name__}), written)
    kinds = (one.name if one.kind == "number" else one.kind for one in seen)
    return Side(Held.NUMBER, frozenset(kinds))


def _read_kinds(
    facts: Observed, node: cst.BaseExpression, tensor: cst.BaseExpression
) -> frozenset[str]:
    """Return the types that hold what a read gives, none if it is something else than it read."""
    kinds, reader = frozenset(_dtypes(facts, tensor)), _reader(facts, node)
    is_whole = not any("float" in one or one == "bool" for one in kinds)
    if reader == "builtins.bool" or (reader == "builtins.int" and not is_whole):
        return frozenset()
    return frozenset({"float64"}) if reader == "builtins.float" and is_whole else kinds


def _reader(facts: Observed, node: cst.BaseExpression) -> str:
    """Return the full name of what reads a tensor, "" for `t.item()` and what reads none."""
    is_read = isinstance(node, cst.Call) and read_tensor(facts, node) is not None
    return facts.full_name(node.func) if is_read and isinstance(node, cst.Call) else ""


def _is_compared_tensor(facts: Observed, node: cst.BaseExpression) -> bool:
    return facts.value(node).is_device_tensor or read_tensor(facts, node) is not None


def _shapes(facts: Observed, node: cst.BaseExpression) -> set[tuple[int, ...]]:
    """Return the shapes of a tensor that is tested. Raises unless it is one number each time."""
    read = read_tensor(facts, node)
    seen = facts.seen(node if read is None else read)
    if any(one.numel != 1 for one in seen):
        raise refuse(facts, node, "ELEMENTS", "the condition is not of one element each time")
    return {one.shape for one in seen}


def check_evaluated_always(facts: Observed, test: cst.BaseExpression) -> None:
    """Raise unless a condition may be evaluated where the old code did not ask for it."""
    why = impurity(test, facts) or partiality(_unread(facts, test), facts)
    if why:
        raise refuse(facts, test, "IMPURE", why)


def _unread(facts: Observed, test: cst.BaseExpression) -> cst.BaseExpression:
    """Return a condition without the read around it, or on the left of its comparison."""
    if isinstance(test, cst.Comparison):
        read = read_tensor(facts, test.left)
        return test if read is None else read
    return read_tensor(facts, test) or test


def _check_unconditional(facts: Observed, node: cst.BaseExpression) -> None:
    """Raise unless an expression can be evaluated though Python might have left it out."""
    inner = node.expression if isinstance(node, cst.UnaryOperation) else node
    if not facts.seen(node) and not isinstance(inner, cst.BaseNumber):
        raise refuse(facts, node, "UNSEEN", f"`{facts.text(node)}` never ran")
    why = impurity(node, facts) or partiality(node, facts)
    if why:
        raise refuse(facts, node, "IMPURE", why)


def _not_tensor(facts: Observed, node: cst.BaseExpression) -> RefusedError:
    if not facts.seen(node) and not isinstance(node, cst.Comparison):
        return refuse(facts, node, "UNSEEN", f"`{facts.text(node)}` never ran")
    return refuse(facts, node, "MIXED", f"`{facts.text(node)}` is not always a tensor")


def _dtypes(facts: Observed, node: cst.CSTNode) -> set[str]:
    return {one.dtype for one in facts.seen(node)}


def grouped(node: cst.BaseExpression, text: str) -> str:
    """Return the text of an operand, in parentheses unless it stands for itself."""
    alone = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BaseNumber)
    inner = node.expression if isinstance(node, cst.UnaryOperation) else node
    is_number = isinstance(inner, cst.BaseNumber)
    return text if is_number or isinstance(node, alone) else f"({text})"
