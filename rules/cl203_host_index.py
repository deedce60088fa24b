"""An index or a number that lives on the host has to be copied to the device first.

`x[[0, 2]]`, `x[..., [-1], :]`, `x[positions]` with positions on the CPU, `x[idx] = 1.0` with an
index tensor, and `x[0, 1] = 5.0`, which names a single element.

## Why capture cares

Indexing runs on the device, so a list or a CPU tensor is copied there from ordinary host memory,
and so is the number of `x[idx] = 1.0`. torch refuses that copy during capture: "Cannot copy between
CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned".

Measured on an H200 with torch 2.11: these refuse at their line, also with `x[0] = 5.0` where `x`
has one dimension; the two forms with a number no longer copy
from torch 2.14 on, which is known from source (`--target-torch 2.14` leaves them out). These capture:
`x[0] = 5.0` and `x[0, 0] = 5.0` that name a row, `x[:1] = 5.0`, `x[:, 1] = 5.0`, `x[mask] = 0.5`,
`x[idx] += 1.0`, `x[0, 1] = t` of a device tensor, an empty list, a boolean CPU tensor, and a single
number from a CPU tensor.

## What to do instead

Keep the index on the device as a buffer, made once: `x[self.order]` or `x.index_select(0, order)`.
A slice needs no index: `x[..., -1:, :]` for `x[..., [-1], :]`, `x[:, 0::2]` for every second
column. For a number write `x.index_fill_(0, idx, 1.0)`, `x[idx] = x.new_full((), 1.0)`, or a slice
that holds the one element, `x[0:1, 1:2] = 5.0`.

A list kept in a variable and numpy arrays are not reported.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from capturelint.rule import About, Effect, Kind, Rule, Trait, Triggers, Value, operations_of

# Forms that store a Python number, in the releases where they copy it.
_NUMBERS = tuple(
    row for row in operations_of("CL203") if row.form.endswith("and a number as value")
)

_LIMITS = frozenset(f"{module}.{name}" for module in ("math", "torch") for name in ("inf", "nan"))
_TYPES = frozenset(("torch.finfo", "torch.iinfo"))
_ENDS = frozenset(("min", "max"))


class HostIndex(Rule):
    about = About(
        code="CL203", name="host-index", effects=(Effect.REFUSES,), since="0.1", waits=True
    )
    triggers = Triggers(traits=frozenset({Trait.TENSOR_SUBSCRIPT}))

    def visit_Subscript(self, node: cst.Subscript) -> None:
        if not self._is_tensor(node):
            return
        indices = list(_indices(node))
        is_one_of_many = len(node.slice) > 1
        for index in indices:
            is_list = self._is_list(index) or (is_one_of_many and self._is_known_list(index))
            if is_list or self._is_host_tensor(index):
                self.report(node, "an index on the host is copied to the device during capture")
                return

    def visit_Assign(self, node: cst.Assign) -> None:
        if not self._is_host_number(node.value):
            return
        for assigned in node.targets:
            target = assigned.target
            if isinstance(target, cst.Subscript) and self._is_tensor(target):
                self._judge_number(target, node.value)

    def _judge_number(self, target: cst.Subscript, node: cst.BaseExpression) -> None:
        indices = list(_indices(target))
        values = [self.value(index) for index in indices]
        if any(value.is_device_tensor and value.dtype != "int" for value in values):
            return
        if self.value(node).kind is not Kind.HOST_TENSOR and not self._moves_numbers():
            return
        if any(_is_positions(value) for value in values):
            self._say(target, "x[idx] = number")
        elif len(indices) >= len(target.slice) and all(map(self._is_integer, indices)):
            rank = self.value(target.value).rank
            if rank == len(indices) or (rank < 0 and len(indices) > 1):
                self._say(target, "x[i, j] = number")

    def _moves_numbers(self) -> bool:
        """Return whether the torch that is checked for moves a stored number through the host."""
        return any(row.holds_for(self.subject.target) for row in _NUMBERS)

    def _is_tensor(self, node: cst.Subscript) -> bool:
        value = self.value(node.value)
        return value.is_device_tensor and not value.optional

    def _is_list(self, index: cst.BaseExpression) -> bool:
        """Return whether an index is a list literal of Python values, and not an empty one."""
        if not isinstance(index, cst.List) or not index.elements:
            return False
        return not any(self.value(element.value).is_device_tensor for element in index.elements)

    def _is_known_list(self, index: cst.BaseExpression) -> bool:
        """Return whether an index beside others holds Python integers, whatever made it."""
        value = self.value(index)
        element = value.element
        return (
            value.kind is Kind.HOST_VALUE
            and element is not None
            and element.kind in (Kind.HOST_VALUE, Kind.SHAPE)
            and element.dtype == "int"
        )

    def _is_host_tensor(self, index: cst.BaseExpression) -> bool:
        value = self.value(index)
        return value.kind is Kind.HOST_TENSOR and value.dtype != "bool" and value.rank != 0

    def _is_integer(self, index: cst.BaseExpression) -> bool:
        value = self.value(index)
        if value.constant:
            constant = value.constant[0]
            return isinstance(constant, int) and not isinstance(constant, bool)
        return value.dtype == "int" and value.rank <= 0 and _is_plain(value)

    def _is_host_number(self, node: cst.BaseExpression) -> bool:
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus | cst.Plus):
            return self._is_host_number(node.expression)
        if self._is_limit(node):
            return True
        value = self.value(node)
        if value.constant:
            return isinstance(value.constant[0], bool | int | float)
        if value.kind is Kind.HOST_TENSOR:
            return value.rank == 0
        return value.dtype in ("bool", "int", "float") and value.rank <= 0 and _is_plain(value)

    def _is_limit(self, node: cst.BaseExpression) -> bool:
        """Return whether an expression is an infinity or a limit of a type, as masks store them."""
        if isinstance(node, cst.Attribute):
            of = node.value
            is_of_type = isinstance(of, cst.Call) and self.full_name(of.func) in _TYPES
            return self.full_name(node) in _LIMITS or (is_of_type and node.attr.value in _ENDS)
        if not isinstance(node, cst.Call) or len(node.args) != 1:
            return False
        is_text = isinstance(node.args[0].value, cst.SimpleString)
        return is_text and self.full_name(node.func) == "builtins.float"

    def _say(self, target: cst.Subscript, form: str) -> None:
        self.report(target, f"`{form}` copies the number to the device, which capture refuses")


def _indices(node: cst.Subscript) -> Iterator[cst.BaseExpression]:
    """Yield the indices of a subscript that are no slices, those of a tuple one by one."""
    for element in node.slice:
        if isinstance(element.slice, cst.Index):
            index = element.slice.value
            if isinstance(index, cst.Tuple):
                yield from (part.value for part in index.elements)
            else:
                yield index


def _is_positions(value: Value) -> bool:
    return value.is_device_tensor and value.dtype == "int" and value.rank != 0


def _is_plain(value: Value) -> bool:
    """Return whether a value is one Python number rather than a sequence."""
    is_host = value.kind in (Kind.HOST_VALUE, Kind.SHAPE)
    return is_host and value.items is None and value.element is None
