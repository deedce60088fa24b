"""A branch on a tensor: both arms run, and `torch.where` takes each name from the one that counts.

`if`/`else`, `elif`, nested branches, and branches whose arms return. What an arm does must be safe to do
at all times: straight assignments of tensors that change nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import libcst as cst

from capturelint.rewrite.aliasing import check_alias
from capturelint.rewrite.blocks import else_of, names_outside, read_names, statements_of
from capturelint.rewrite.conditions import RefusedError, conditions_in, reads_tensor, refuse
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.lines import edit_of, inlined
from capturelint.rewrite.merging import Merging
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.steep import HARMLESS

# torch 2.11 refused it on an H200; in 2.12 to 2.14 only graph trees and compiled code enter those modes.
_COND = (
    "`torch.cond` runs one arm alone, but a plain `torch.cuda.graph` refuses it: from torch 2.12 and CUDA"
    " 12.4 on a graph holds it under private modes of torch alone"
)


def sites(facts: Observed) -> list[cst.If]:
    """Return the outermost branches of a function on tensors."""
    found: list[cst.If] = []
    for node in facts.nodes(cst.If):
        assert isinstance(node, cst.If), "only those were asked for"
        inside = any(one in found for one in facts.around(node))
        if not inside and reads_tensor(facts, node.test) and not _ends_loop(node):
            found.append(node)
    return found


def _ends_loop(node: cst.If) -> bool:
    """Return whether a branch only leaves a loop, which another pattern knows."""
    body = statements_of(node.body)
    last = body[-1] if len(body) == 1 and node.orelse is None else None
    return isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Break)


def tests(node: cst.If, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return the conditions of a branch, and of all inside of it."""
    return conditions_in(node)


def match(node: cst.If, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:
    """Offer both arms with a choice between what they assign or return."""
    try:
        if any(isinstance(one, cst.Try | cst.TryStar) for one in facts.around(node)):
            raise refuse(facts, node, "TRY", "it stands in a `try`, which errors may leave")
        check_alias(node, facts)
        plain = Merging(facts, torch)
        bare = _form(node, facts, plain)
        # The first guarded form is needed where the bare one may put NaN into gradients.
        forms = [_form(node, facts, Merging(facts, torch, HARMLESS[0])) if plain.is_bare else bare]
    except RefusedError as error:
        found = error.refusal
        return replace(found, hint=f"{found.hint}; {_COND}") if found.code == "IMPURE" else found
    with suppress(RefusedError):
        forms += [_form(node, facts, Merging(facts, torch, number)) for number in HARMLESS]
        forms.append(_form(node, facts, Merging(facts, torch, HARMLESS[0], is_thorough=True)))
    return tuple(dict.fromkeys(forms))


def _form(node: cst.If, facts: Observed, merging: Merging) -> Form:
    is_leaving = _returns(statements_of(node.body)) or _returns(else_of(node))
    last = _returned(node, facts, merging) if is_leaving else _assigned(node, facts, merging)
    edits = (edit_of(node, last, merging.lines, facts),)
    return Form(Grade.PROVEN, edits, merging.notes)


def _assigned(node: cst.If, facts: Observed, merging: Merging) -> cst.CSTNode:
    """Emit a branch whose arms assign. Return the last node that the lines replace."""
    chosen = merging.branch(node, {}, _live(node, facts))
    if not chosen:
        raise refuse(facts, node, "NOTHING", "nothing that its arms assign is read later")
    merging.lines += [f"{name} = {text}" for name, text in chosen.items()]
    if len(chosen) == 1:
        merging.lines = inlined(merging.lines)
    return node


def _returned(node: cst.If, facts: Observed, merging: Merging) -> cst.CSTNode:
    """Emit a branch one of whose arms returns; what follows it is the other arm."""
    block = next(facts.around(node))
    function = facts.nearest(node, cst.FunctionDef)
    if function is None or block is not function.body or not isinstance(block, cst.IndentedBlock):
        raise refuse(facts, node, "RETURN", "it returns from inside of another block")
    rest = list(block.body)[list(block.body).index(node) + 1 :]
    cond = merging.test(node, {})
    values: list[Sequence[str]] = []
    forms = set()
    ways = (cond, list(statements_of(node.body))), (f"~{cond}", list(else_of(node)))
    for selected, arm in ways:
        statements = arm if _returns(arm) else [*arm, *rest]
        if not _returns(statements):
            raise refuse(facts, node, "RETURN", "it does not return a value both ways")
        last = statements[-1]
        assert isinstance(last, cst.SimpleStatementLine), "it returns"
        leave = last.body[-1]
        assert isinstance(leave, cst.Return), "it returns"
        if leave.value is None or facts.text(leave.value) == "None":
            raise refuse(facts, node, "RETURN", "it does not return a value both ways")
        forms.add(isinstance(leave.value, cst.Tuple))
        with merging.counting(selected):
            env = merging.arm([*statements[:-1], last.with_changes(body=last.body[:-1])], {})
            values.append([merging.value(one, env) for one in _items(leave.value)])
    if len(values[0]) != len(values[1]) or len(forms) > 1:
        raise refuse(facts, node, "RETURN", "it returns another number of values each way")
    texts = [merging.choice(cond, *pair) for pair in zip(*values, strict=True)]
    merging.lines.append(f"return {', '.join(texts)}{',' if forms == {True} else ''}")
    if len(texts) == 1:
        merging.lines = inlined(merging.lines)
    is_open = rest and not (_returns(statements_of(node.body)) and _returns(else_of(node)))
    return rest[-1] if is_open else node


def _items(value: cst.BaseExpression) -> Sequence[cst.BaseExpression]:
    if isinstance(value, cst.Tuple):
        return [element.value for element in value.elements]
    return [value]


def _returns(statements: Sequence[cst.BaseStatement]) -> bool:
    last = statements[-1] if statements else None
    return isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Return)


def _live(node: cst.If, facts: Observed) -> frozenset[str]:
    """Return the names that are read outside of a branch, or all in a loop that comes back to it."""
    function = facts.nearest(node, cst.FunctionDef)
    assert function is not None, "only functions are observed"
    if any(isinstance(one, cst.For | cst.While) for one in facts.around(node)):
        return read_names(function)
    return names_outside(node, facts)
