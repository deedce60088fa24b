"""A tensor where Python or torch wants a plain integer: an index, a bound or a size.

`x[n]`, `experts[n]` and `x[:n]` with a tensor of a single number on the device, `range(n)`, `[0] * n`,
and sizes or bounds of `torch.arange`, `torch.zeros`, `.view`, `.split`, `.expand` and their like.

## Why capture cares

The integer has to be known on the host before the operation can be launched, so torch reads it
there. CUDA refuses the read while a stream is capturing, and the capture is lost. A graph could not
follow a changing size either: shapes are fixed when it is captured.

Measured on an H200 with torch 2.11: every form listed under "Operations" refuses at its own line.
`x[n]` with `n` of at least one dimension captures, and so does a loop over a tensor's rows; but
`for e in idx: x[e]` refuses, because each `e` is a single number.

## What to do instead

Index with a tensor of one dimension: `x[n.view(1)]`, `x.index_select(0, n.view(1))` or `x.gather`.
For a prefix of unknown length keep the full length and mask what is past the end:
`torch.arange(x.shape[0], device=x.device) < n`. Take sizes from shapes or from Python numbers that
do not change between replays. Of several modules, run them all and choose by `torch.where`, or run
a batched form of them.

A name that is only supposed to be a tensor from its use is not reported, nor is an index whose
number of dimensions is unknown. `for _ in range(n)` is CL403.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from capturelint.rule import (
    About,
    Effect,
    Kind,
    Rule,
    Subject,
    Trait,
    Triggers,
    Value,
    method_call,
    names,
    operations_of,
)

_OPS = frozenset(row.op for row in operations_of("CL104") if "__" not in row.op)
# The first argument of these is a tensor, not a size.
_ON_TENSORS = frozenset(
    op
    for op in _OPS
    if op.startswith("torch.nn.functional.") or f"Tensor.{op.removeprefix('torch.')}" in _OPS
)
_FIRST_IS_SIZE = names(
    ["range arange empty eye full linspace logspace ones rand randint randn randperm zeros"]
)
# Keywords of factories and of the others that name no size.
_NO_SIZES = names(["out dtype device input layout generator fill_value value mode"])


def _trigger(name: str) -> str:
    """Return the trigger of an operation: only of factories may the first argument be the size."""
    return (
        f"{name}(tensor)" if name in _FIRST_IS_SIZE or name.startswith("new_") else f"{name}(more)"
    )


class TensorAsIndex(Rule):
    about = About(
        code="CL104", name="tensor-as-index", effects=(Effect.REFUSES,), since="0.1", waits=True
    )
    triggers = Triggers(
        names=names(_trigger(name.rpartition(".")[2]) for name in _OPS),
        traits=frozenset({Trait.TENSOR_SUBSCRIPT, Trait.TENSOR_REPEAT}),
    )

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._turns: set[cst.CSTNode] = set()

    def visit_For(self, node: cst.For) -> None:
        self._turns.add(node.iter)

    def visit_CompFor(self, node: cst.CompFor) -> None:
        self._turns.add(node.iter)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        receiver = self.value(node.value)
        for element in node.slice:
            part = element.slice
            if isinstance(part, cst.Index):
                self._judge_index(part.value, receiver)
            elif isinstance(part, cst.Slice):
                self._judge_bounds(part)

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        if isinstance(node.operator, cst.Multiply):
            for side, times in ((node.left, node.right), (node.right, node.left)):
                if _is_sure(self.value(times)) and _is_list(side, self.value(side)):
                    self.report(times, "how often to repeat is read on the host during capture")

    def visit_Call(self, node: cst.Call) -> None:
        name = self.full_name(node.func)
        called = method_call(node)
        if name in _OPS:
            self._judge_function(node, name)
        elif called is not None and not name and self._is_method(*called):
            # The second argument of `new_full` is no size but the value.
            end = 1 if called[1] == "new_full" else None
            self._judge_sizes(node.args[:end], f".{called[1]}")

    def _judge_function(self, node: cst.Call, name: str) -> None:
        if name == "builtins.range" and node in self._turns:
            return
        start = 1 if name in _ON_TENSORS else 0
        end = 1 if name == "torch.full" else None
        self._judge_sizes(node.args[start:end], name.removeprefix("builtins."))

    def _is_method(self, receiver: cst.BaseExpression, method: str) -> bool:
        return f"Tensor.{method}" in _OPS and self.value(receiver).is_tensor

    def _judge_index(self, index: cst.BaseExpression, receiver: Value) -> None:
        if isinstance(index, cst.Tuple):
            for element in index.elements:
                self._judge_index(element.value, receiver)
            return
        value = self.value(index)
        if not _is_sure(value) or value.dtype in ("bool", "float"):
            return
        # A list or a container of modules takes nothing but single numbers.
        is_sequence = receiver.kind is Kind.MODULE or receiver.items is not None
        if value.rank == 0 or (is_sequence and value.rank < 0 and value.dtype == "int"):
            self.report(index, "an index that is a tensor is read on the host during capture")

    def _judge_bounds(self, part: cst.Slice) -> None:
        for bound in (part.lower, part.upper, part.step):
            if bound is not None and _is_sure(self.value(bound)):
                self.report(
                    bound, "a slice bound that is a tensor is read on the host during capture"
                )
                return

    def _judge_sizes(self, args: Sequence[cst.Arg], form: str) -> None:
        for arg in args:
            is_other = arg.keyword is not None and arg.keyword.value in _NO_SIZES
            if arg.star or is_other:
                continue
            for size in _flat(arg.value):
                if any(map(_is_sure, _held(self.value(size)))):
                    self.report(size, f"`{form}()` reads a tensor on the host to know a size")
                    return


def _flat(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(node, cst.Tuple | cst.List):
        for element in node.elements:
            yield from _flat(element.value)
    else:
        yield node


def _held(value: Value) -> Iterator[Value]:
    """Yield a value and, of a tuple or list kept in a name, what it holds."""
    yield value
    if value.is_host:
        yield from value.items or ()
        if value.element is not None:
            yield value.element


def _is_list(node: cst.BaseExpression, value: Value) -> bool:
    if isinstance(node, cst.List | cst.Tuple | cst.ListComp | cst.SimpleString):
        return True
    return value.kind is Kind.HOST_VALUE and value.items is not None


def _is_sure(value: Value) -> bool:
    return value.is_device_tensor and not value.weak and not value.optional
