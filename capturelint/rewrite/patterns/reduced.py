"""The sum, the mean or a loss of what a mask selects: of everything, with the rest left out of account.

`x[m].sum()` is `x.masked_fill(~m, 0).sum()`; a mean divides by the number of selected elements, and adds
up half types in float32, as their own kernels do.
"""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit
from capturelint.rewrite.conditions import RefusedError, grouped, refuse
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.lines import ungrouped
from capturelint.rewrite.masks import HINT, lifted, mask_of, rank
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.purity import impurity
from capturelint.rule import method_call

_HALF = frozenset(("float16", "bfloat16"))
_FLOATS = frozenset(("float32", "float64", *_HALF))
_LOSSES = frozenset(
    f"torch.nn.functional.{name}" for name in ("mse_loss", "l1_loss", "smooth_l1_loss")
)
_ENTROPY = "torch.nn.functional.cross_entropy"
# With what the rest is filled: the least number, or the greatest.
_FILLS = {"max": "min", "amax": "min", "min": "max", "amin": "max"}
_WHOLE = frozenset(("int8", "int16", "int32", "int64", "uint8"))
_OF_NONE = (
    "unsafe: the largest or smallest of an empty selection is now an infinity, or the last number of"
    " its type, where the old code raised"
)
_RAISING = frozenset(("max", "min", "amax", "amin", "argmax", "argmin"))


def sites(facts: Observed) -> list[cst.Call]:
    """Return the calls that reduce what a mask selects to one number."""
    found: list[cst.Call] = []
    for node in facts.nodes(cst.Call):
        if isinstance(node, cst.Call) and _selected(node, facts):
            found.append(node)
    return found


def tests(node: cst.Call, facts: Observed) -> list[cst.BaseExpression]:
    """Return the mask: some elements of it must have been true, and some not."""
    masks = [mask_of(one, facts) for one in _selected(node, facts)[:1]]
    return [one for one in masks if one is not None]


def match(node: cst.Call, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:
    """Offer the reduction of everything, in which what is not selected does not count."""
    try:
        text = _text(node, facts, torch)
        if not isinstance(next(facts.around(node)), cst.BaseExpression):
            text = ungrouped(text)
    except RefusedError as error:
        return error.refusal
    raises = _is_raising(node, facts)
    grade, notes = (Grade.UNSAFE, (_OF_NONE,)) if raises else (Grade.PROVEN, ())
    return (Form(grade, (Edit(facts.span(node), text),), notes),)


def _is_raising(node: cst.Call, facts: Observed) -> bool:
    """Return whether a reduction raises where nothing is selected."""
    called = method_call(node)
    return called is not None and not facts.full_name(node.func) and called[1] in _RAISING


def _selected(node: cst.Call, facts: Observed) -> list[cst.Subscript]:
    """Return what a mask selects among what a reduction is given."""
    called, name = method_call(node), facts.full_name(node.func)
    if name in (*_LOSSES, _ENTROPY):
        parts = [arg.value for arg in node.args]
    elif (
        called is not None and not name and (called[1] in ("sum", "mean") or called[1] in _RAISING)
    ):
        parts = [called[0]]
    else:
        return []
    return [one for one in parts if isinstance(one, cst.Subscript) and mask_of(one, facts)]


def _text(node: cst.Call, facts: Observed, torch: str) -> str:
    parts = _selected(node, facts)
    masks = {facts.text(mask) for one in parts if (mask := mask_of(one, facts)) is not None}
    mask = mask_of(parts[0], facts)
    assert mask is not None, "that makes it a site"
    for one in (mask, *(part.value for part in parts)):
        why = impurity(one, facts)
        if why:
            raise refuse(facts, one, "IMPURE", why, HINT)
    called, name = method_call(node), facts.full_name(node.func)
    if not name and called is not None:
        return _reduced(node, called[1], parts[0], mask, facts, torch)
    if len(node.args) != 2 or len(parts) != 2 or len(masks) != 1:
        reason = "the loss has other arguments than two that one mask selects"
        raise refuse(facts, node, "ARGUMENTS", reason, HINT)
    if any(arg.keyword is not None or arg.star for arg in node.args):
        raise refuse(facts, node, "ARGUMENTS", "the loss has arguments by name", HINT)
    if name == _ENTROPY:
        return _entropy(node, parts, mask, facts)
    filled = [_filled(one.value, mask, facts) for one in parts]
    types = {one.dtype for part in parts for one in facts.seen(part.value)}
    first, second = ({one.shape for one in facts.seen(part.value)} for part in parts)
    if len(types) != 1 or not types <= _FLOATS or first != second:
        raise refuse(facts, node, "DTYPE", "what is compared has other types or shapes", HINT)
    loss = f'{facts.text(node.func)}({", ".join(filled)}, reduction="none")'
    return _mean(loss, types.pop(), parts[0].value, mask, facts, torch)


def _reduced(
    node: cst.Call,
    method: str,
    part: cst.Subscript,
    mask: cst.BaseExpression,
    facts: Observed,
    torch: str,
) -> str:
    if method in _RAISING and not (facts.allowed.unsafe_fixes and method in _FILLS):
        reason = "of an empty selection it raises, which the device cannot do"
        hint = "`--unsafe-fixes` fills the rest with the least number, which is then the result"
        raise refuse(facts, node, "EMPTY", reason, hint)
    if node.args:
        reason = "a reduction of some dimensions keeps as many rows as the mask selects"
        raise refuse(facts, node, "ARGUMENTS", reason, HINT)
    types = {one.dtype for one in facts.seen(part.value)}
    if len(types) != 1:
        raise refuse(
            facts, node, "DTYPE", "what is reduced has other types from call to call", HINT
        )
    if method in _FILLS:
        return _extreme(method, types.pop(), part.value, mask, facts, torch)
    filled = _filled(part.value, mask, facts)
    if method == "sum":
        return f"{filled}.sum()"
    return _mean(filled, types.pop(), part.value, mask, facts, torch)


def _extreme(
    method: str,
    kind: str,
    node: cst.BaseExpression,
    mask: cst.BaseExpression,
    facts: Observed,
    torch: str,
) -> str:
    """Return the largest or smallest of everything, in which the rest is as far away as can be."""
    if "float" in kind:
        fill = f'float("{"-" if _FILLS[method] == "min" else ""}inf")'
    elif kind in _WHOLE:
        fill = f"{torch}.iinfo({torch}.{kind}).{_FILLS[method]}"
    else:
        raise refuse(facts, node, "DTYPE", f"a {kind} has no least number", HINT)
    rest = lifted(mask, rank(node, facts), facts, negated=True)
    return f"{grouped(node, facts.text(node))}.masked_fill({rest}, {fill}).{method}()"


def _filled(node: cst.BaseExpression, mask: cst.BaseExpression, facts: Observed) -> str:
    rest = lifted(mask, rank(node, facts), facts, negated=True)
    return f"{grouped(node, facts.text(node))}.masked_fill({rest}, 0)"


def _mean(
    text: str,
    kind: str,
    node: cst.BaseExpression,
    mask: cst.BaseExpression,
    facts: Observed,
    torch: str,
) -> str:
    """Return the sum of a text over the number of selected elements."""
    if kind not in _FLOATS:
        raise refuse(facts, node, "DTYPE", f"a mean of {kind} is not defined", HINT)
    count = f"{grouped(mask, facts.text(mask))}.sum()"
    inner = {one.shape[rank(mask, facts) :] for one in facts.seen(node)}
    if inner != {()}:
        held, first = grouped(node, facts.text(node)), rank(mask, facts)
        sizes = [f"{held}.shape[{first + at}]" for at in range(rank(node, facts) - first)]
        count = f"({' * '.join([count, *sizes])})"
    if kind not in _HALF:
        return f"({text}.sum() / {count})"
    # The number of elements may be more than a half type holds.
    return f"({text}.sum(dtype={torch}.float32) / {count}).to({torch}.{kind})"


def _entropy(
    node: cst.Call, parts: list[cst.Subscript], mask: cst.BaseExpression, facts: Observed
) -> str:
    logits, labels = (one.value for one in parts)
    rows = rank(mask, facts)
    if rank(logits, facts) != rows + 1 or rank(labels, facts) != rows:
        raise refuse(facts, node, "RANK", "the mask does not select one row for each label", HINT)
    if any(one.dtype != "int64" for one in facts.seen(labels)):
        raise refuse(facts, node, "DTYPE", "the labels are no integers", HINT)
    rest = lifted(mask, rows, facts, negated=True)
    texts = [
        _filled(logits, mask, facts),
        f"{grouped(labels, facts.text(labels))}.masked_fill({rest}, -100)",
    ]
    if rows > 1:
        texts = [f"{text}.flatten(0, {rows - 1})" for text in texts]
    return f"{facts.text(node.func)}({', '.join(texts)})"
