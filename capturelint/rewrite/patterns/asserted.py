"""A check that raises on the host, as an assertion on the device: `torch._assert_async`.

`assert t, "words"`, `if t: raise ValueError("words")` and `torch._check_tensor_all(t)`. What fails then ends
the CUDA context.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.blocks import statements_of
from capturelint.rewrite.conditions import RefusedError, condition, grouped, reads_tensor, refuse
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.lines import edit_of
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.regions import only_statement

_HINT = "leave the check out of what is captured"
# Torch's checks, by which of their arguments is the tensor.
_CHECKS = {"torch._check_tensor_all": 0, "torch._check_tensor_all_with": 1}
_NOTE = (
    "unsafe: where `torch._assert_async` fails, nothing is raised there: the next synchronization raises"
    " `AcceleratorError`, the CUDA context of the process is lost, and the words go to standard error alone"
)
_OFFER = (
    "leave it out of what is captured; `--unsafe-fixes` writes `torch._assert_async`, whose failure ends"
    " the CUDA context of the process"
)


def sites(facts: Observed) -> list[cst.CSTNode]:
    """Return the statements that only raise if a tensor says so."""
    found: list[cst.CSTNode] = []
    for node in facts.nodes(cst.SimpleStatementLine, cst.If):
        test = _test(node)
        is_read = test is not None and reads_tensor(facts, test)
        if is_read or _checked(node, facts) is not None:
            found.append(node)
    return found


def tests(node: cst.CSTNode, facts: Observed) -> list[cst.BaseExpression]:  # noqa: ARG001 - a pattern
    """Return nothing: inputs need not lead to an error."""
    return []


def match(node: cst.CSTNode, facts: Observed, torch: str) -> tuple[Form, ...] | Refusal:
    """Offer an assertion on the device, if the user allows it."""
    checked = _checked(node, facts)
    test = _test(node) if checked is None else checked
    assert test is not None, "that makes it a site"
    try:
        if not facts.allowed.unsafe_fixes:
            raise refuse(facts, node, "RAISES", "it raises, which the device cannot do", _OFFER)
        if any(isinstance(one, cst.Try | cst.TryStar) for one in facts.around(node)):
            raise refuse(facts, node, "TRY", "it stands in a `try`, which errors may leave", _HINT)
        parent = next(facts.around(node))
        if isinstance(parent, cst.If) and parent.orelse is node:
            raise refuse(facts, node, "ELIF", "it is an `elif`", _HINT)
        if checked is not None:
            text = f"{grouped(checked, facts.text(checked))}.all()"
        else:
            text = condition(facts, test, torch)
        if isinstance(node, cst.If):
            text = f"{torch}.logical_not({text})"
        line = f"{torch}._assert_async({text}, {_words(node, test, facts)})"
    except RefusedError as error:
        return error.refusal
    return (Form(Grade.UNSAFE, (edit_of(node, node, [line], facts),), (_NOTE,)),)


def _test(node: cst.CSTNode) -> cst.BaseExpression | None:
    """Return the condition of a check, None for other statements."""
    small = only_statement(node)
    if isinstance(small, cst.Assert):
        return small.test
    if not isinstance(node, cst.If) or node.orelse is not None:
        return None
    body = statements_of(node.body)
    is_raise = len(body) == 1 and isinstance(only_statement(body[0]), cst.Raise)
    return node.test if is_raise else None


def _checked(node: cst.CSTNode, facts: Observed) -> cst.BaseExpression | None:
    """Return the tensor of which torch checks all on the host, None for other statements.

    Where lines to blame are known, only such a one: a function may check in another way, with an error of
    its own, where nothing is captured. A check takes nothing but tensors, and may never have run.
    """
    small = only_statement(node)
    call = small.value if isinstance(small, cst.Expr) else None
    if not isinstance(call, cst.Call) or facts.full_name(call.func) not in _CHECKS:
        return None
    is_plain = not any(arg.star or arg.keyword is not None for arg in call.args)
    at = _CHECKS[facts.full_name(call.func)]
    given = call.args[at].value if is_plain and len(call.args) > at else None
    if given is None or not facts.may_be_blamed(node):
        return None
    return given if facts.value(given).is_device_tensor or not facts.seen(given) else None


def _words(node: cst.CSTNode, test: cst.BaseExpression, facts: Observed) -> str:
    """Return what a check says as a literal: its text if that is written out, else its condition."""
    small = only_statement(node)
    said: cst.BaseExpression | None = small.msg if isinstance(small, cst.Assert) else None
    if isinstance(node, cst.If):
        (only,) = statements_of(node.body)
        raised = only_statement(only)
        call = raised.exc if isinstance(raised, cst.Raise) else None
        said = call.args[0].value if isinstance(call, cst.Call) and call.args else None
    is_written = isinstance(said, cst.SimpleString) and isinstance(said.evaluated_value, str)
    if said is not None and is_written:
        return facts.text(said)
    words = " ".join(facts.text(test).split())
    return f'"{words}"' if '"' not in words and "\\" not in words else repr(words)
