"""Which rule explains what a capture refuses, and in which function of torch: as the code speaks."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from capturelint.debug.dispatched.asking import Asking, Called, asking
from capturelint.debug.dispatched.refusal import Refusal
from capturelint.finding import Effect
from capturelint.operations import OPERATIONS, Operation

_READ = "CL101"
_COPY = "CL202"
_INDEX = "CL203"
_OF_READS = ("CL104", "CL106", "CL301", "CL402")  # rules about functions that read inside
# The copy is of one kind to the dispatcher, whatever was written.
_FROM_PYTHON = re.compile(r"(?<!\w)(tensor|as_tensor|asarray|new_tensor)\s*\(")
# Functions of torch that read on the host for a reason of their own: end of the file, name (none: all
# of the file), how a report calls it, and the rule.
_READERS = (
    ("torch/amp/grad_scaler.py", "step", "torch.amp.GradScaler.step", "CL802"),
    ("torch/nn/utils/clip_grad.py", "", "torch.nn.utils.clip_grad_norm_", "CL402"),
    ("torch/nn/modules/batchnorm.py", "forward", "a batch norm of torch", _READ),
)


def explained(refusal: Refusal, *, is_whole: bool) -> Refusal:
    """Return the refusal with the rule that the user's code speaks for, and who of torch read.

    `is_whole`: a tensor of the host is written, more than a number.
    """
    if refusal.code == _COPY:
        by = asking()
        code = _rule_of_copy(by, is_whole=is_whole)
        is_number = code == _INDEX and by.writes_element and "copy_" in refusal.operation.split(".")
        operation = f"{refusal.operation}{' of a number' if is_number else ''}"
        return replace(refusal, code=code, operation=operation)
    if refusal.code == _READ:
        return _read(refusal, asking())
    return refusal


def _rule_of_copy(by: Asking, *, is_whole: bool) -> str:
    if _FROM_PYTHON.search(by.line):
        return "CL201"
    # An index in a list, wherever that was made, or a number that becomes an element.
    if by.reads_element or (by.writes_element and not is_whole):
        return _INDEX
    return _COPY


def _read(refusal: Refusal, by: Asking) -> Refusal:
    for file, name, words, code in _READERS:
        if any(path.endswith(file) and name in ("", one) for path, one in by.functions):
            return replace(refusal, code=code, operation=f"{refusal.operation} in {words}")
    return replace(refusal, code=_rule_of_call(by.call) or refusal.code)


def _rule_of_call(call: Called | None) -> str:
    """Return the one rule about a function of torch that reads, or "". Methods have operations of their own."""
    if call is None:
        return ""
    rows = [row for row in _rows_by_name().get(call.name, ()) if not _is_spared(row, call)]
    # Whether an argument is missing can be seen, what is in one cannot.
    decided = [row for row in rows if row.spared_by] or rows
    rules = {row.rule for row in decided}
    return rules.pop() if len(rules) == 1 else ""


def _is_spared(row: Operation, call: Called) -> bool:
    by_position = bool(row.spared_from) and call.positional >= row.spared_from
    return by_position or any(one in row.spared_by for one in call.keywords)


@cache
def _rows_by_name() -> dict[str, list[Operation]]:
    rows: dict[str, list[Operation]] = {}
    for row in OPERATIONS:
        if row.effect is Effect.REFUSES and row.rule in _OF_READS and row.op.startswith("torch."):
            rows.setdefault(row.op.rpartition(".")[2], []).append(row)
    return rows
