"""An operation whose result is sized by the values in a tensor makes the host wait for that size.

`nonzero`, `argwhere` and one-argument `torch.where`, `unique` and `unique_consecutive`,
`masked_select`, `bincount`, `combinations`, `repeat_interleave` with a tensor of repeats,
`one_hot` without the number of classes, `histc` without a range, and FBGEMM's permutations of
jagged rows without the total length.

## Why capture cares

The host needs the size to allocate the result, and while a stream is capturing there is no value
to read it from: CUDA refuses the wait and the capture is lost. A graph could not hold such a result
either, because its shapes are fixed when it is captured.

Measured on an H200 with torch 2.11: all of these refuse at their line, `bincount` also with
`minlength`. `nonzero_static`, `repeat_interleave(output_size=...)`, `one_hot(x, n)`,
`histc(min=..., max=...)` and three-argument `torch.where` capture and replay exactly.

## What to do instead

Give the size from the host: `torch.nonzero_static(mask, size=n)` (it drops what does not fit),
`repeat_interleave(repeats, output_size=n)` (`n` must be right: one too large is a device assert
that ends the process), `F.one_hot(x, num_classes=n)`, `histc(bins, min, max)`. For counts, add
ones: `x.new_zeros(n).index_add_(0, index, ones)`. Where only some elements matter, keep all of them and
let a mask choose, with `torch.where` or by multiplying.

What is found on the CPU, or on an array of another library, is not reported. Repeats of which nothing
is known are taken for a tensor where their name says that they are several: `lengths`, `counts`,
`natoms`. FBGEMM is known from its sources (`torch.ops.fbgemm.permute_2D_sparse_data` and its kind read
the total on the host unless `permuted_lengths_sum` is given), not measured.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import (
    About,
    Effect,
    Kind,
    Operation,
    Rule,
    Subject,
    Triggers,
    Value,
    argument,
    has_star_arguments,
    method_call,
    names,
    operations_of,
)

_OPERATIONS = {row.op: row for row in operations_of("CL301")}
# Methods that arrays and tables of other libraries have too; only the receiver can tell.
_AMBIGUOUS = names(["unique repeat_interleave"])
# Names of as many repeats as there are rows.
_SEVERAL = ("lengths", "lens", "counts", "sizes", "seqlens")
# What data sets of graphs call the counts of each graph in a batch.
_COUNTS = frozenset({"natoms", "nbonds", "nedges", "nnodes"})
# What the functions call their first argument.
_FIRST = ("input", "condition", "self")


class DynamicShapeOp(Rule):
    about = About(
        code="CL301", name="dynamic-shape-op", effects=(Effect.REFUSES,), since="0.1", waits=True
    )
    triggers = Triggers(
        names=(names(op.rpartition(".")[2] for op in _OPERATIONS) - {"where"}) | {"where(1)"}
    )

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._picked_from: set[cst.CSTNode] = set()

    def visit_Subscript(self, node: cst.Subscript) -> None:
        if _is_first_item(node):
            self._picked_from.add(node.value)

    def visit_Call(self, node: cst.Call) -> None:
        name = self.full_name(node.func)
        called = method_call(node)
        if name in _OPERATIONS:
            self._judge(node, _OPERATIONS[name], _first_argument(node), is_sure=True)
        elif called is not None and not name:
            receiver, method = called
            operation = _OPERATIONS.get(f"Tensor.{method}")
            if operation is not None:
                self._judge(node, operation, receiver, is_sure=self._is_torch_only(node, method))

    def _is_torch_only(self, node: cst.Call, method: str) -> bool:
        # `a.nonzero()[0]` is how an array of positions is taken in NumPy.
        is_numpy_idiom = method == "nonzero" and not node.args and node in self._picked_from
        return method not in _AMBIGUOUS and not is_numpy_idiom

    def _judge(
        self,
        node: cst.Call,
        operation: Operation,
        tensor: cst.BaseExpression | None,
        *,
        is_sure: bool,
    ) -> None:
        if tensor is None or self._is_spared(node, operation):
            return
        value = self.value(tensor)
        if operation.op.endswith("repeat_interleave"):
            if not value.is_host and self._repeats_a_tensor(node, operation):
                self._say(node, operation)
        elif _is_on_device(value, is_sure=is_sure):
            self._say(node, operation)

    def _is_spared(self, node: cst.Call, operation: Operation) -> bool:
        if has_star_arguments(node):
            return True
        if operation.op.endswith("one_hot"):
            classes = argument(node, "num_classes", 1)
            return classes is not None and not self._is_minus_one(classes)
        placed, words = 0, []
        for position, arg in enumerate(node.args, start=1):
            if self.value(arg.value).is_none:
                continue
            if arg.keyword is None:
                placed = position
            else:
                words.append(arg.keyword.value)
        return any(word in operation.spared_by for word in words) or (
            0 < operation.spared_from <= placed
        )

    def _is_minus_one(self, node: cst.BaseExpression) -> bool:
        """Return whether `node` is -1, which asks `one_hot` to look at the values after all."""
        is_literal = isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus)
        return is_literal or self.value(node).constant == (-1,)

    def _repeats_a_tensor(self, node: cst.Call, operation: Operation) -> bool:
        is_method = operation.op.startswith("Tensor.")
        repeats = argument(node, "repeats", 0 if is_method else 1)
        if repeats is None and not is_method and len(node.args) == 1:
            repeats = node.args[0].value
        if repeats is None:
            return False
        value = self.value(repeats)
        # A number of repeats has another name, and torch takes no list.
        word = _word(repeats)
        is_plural = word.endswith(_SEVERAL) or word in _COUNTS
        is_open = value.weak or (value.is_unknown and not value.name)
        return (value.is_device_tensor and not value.weak) or (is_open and is_plural)

    def _say(self, node: cst.Call, operation: Operation) -> None:
        name = operation.op.removeprefix("Tensor")
        why = "takes its range from" if name.endswith("histc") else "sizes its result by"
        self.report(node, f"`{name}()` {why} values, which capture refuses to read")


def _word(node: cst.BaseExpression) -> str:
    """Return the last name in a chain, or the text of a key in brackets after it."""
    if isinstance(node, cst.Subscript) and isinstance(node.slice[0].slice, cst.Index):
        node = node.slice[0].slice.value
    if isinstance(node, cst.Attribute):
        node = node.attr
    if isinstance(node, cst.SimpleString):
        return str(node.evaluated_value)
    return node.value if isinstance(node, cst.Name) else ""


def _first_argument(node: cst.Call) -> cst.BaseExpression | None:
    found = (argument(node, keyword, 0) for keyword in _FIRST)
    return next((node for node in found if node is not None), None)


def _is_first_item(node: cst.Subscript) -> bool:
    index = node.slice[0].slice
    return (
        len(node.slice) == 1
        and isinstance(index, cst.Index)
        and isinstance(index.value, cst.Integer)
    )


def _is_on_device(value: Value, *, is_sure: bool) -> bool:
    """Return whether a value is on the device. `is_sure`: only tensors have the operation."""
    if value.is_device_tensor and not value.weak:
        return True
    is_open = value.kind is Kind.UNKNOWN or value.weak
    return is_sure and is_open and not value.refs and not value.name
