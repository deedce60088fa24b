"""A tensor given where torch wants a plain number: torch reads it on the host.

`masked_fill(mask, t)`, `x[mask] = t`, `torch.full(size, t)`, `add(y, alpha=t)`,
`clamp(0.0, t)` with one bound a number, `index_fill_(dim, index, t)`, `torch.normal(mean, t)`,
distributions that check their arguments, and the like.

## Why capture cares

Such a number goes into the launch of the kernel, so its value must be on the host first. CUDA
refuses the read while a stream is capturing, and the capture is lost. A constructor of
`torch.distributions` does the same with the answer to "are these parameters valid?".

Measured on an H200 with torch 2.11: the forms listed under "Operations" refuse at their own line.
These look alike and capture: `x.fill_(t)`, `x[0, 0] = t`, `x.clamp(min=t)`, `x.clamp(t, u)`,
`torch.where(mask, t, x)`, `torch.lerp(x, y, t)`, `masked_fill` with a tensor on the host,
`torch.normal(mean, 1.0)`.

## What to do instead

`torch.where(mask, t, x)` for `masked_fill` and for `x[mask] = t`; `t.expand(size).clone()` or
`torch.empty(size, device=t.device).fill_(t)` for `torch.full`; `x + t * y` for `alpha`;
`x.clamp(min=0.0).clamp(max=t)` for two unlike bounds; `mean + std * torch.randn_like(mean)` for
`torch.normal`; `validate_args=False` for a distribution.

Other tensors assigned through a mask are CL302. `Distribution.set_default_validate_args(False)`
also makes distributions safe and is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from capturelint.rule import (
    About,
    Effect,
    Kind,
    Rule,
    Trait,
    Triggers,
    Value,
    argument,
    method_call,
    names,
    operations_of,
)

# The arguments that must be numbers: keyword, and position as a function (the tensor is 0).
_NUMBERS: tuple[tuple[str, tuple[tuple[str, int | None], ...]], ...] = (
    ("masked_fill masked_fill_", (("value", 2),)),
    ("full full_like", (("fill_value", 1),)),
    ("new_full", (("fill_value", 2),)),
    ("add add_ sub sub_", (("alpha", None),)),
    ("addcmul addcmul_ addcdiv addcdiv_", (("value", None),)),
    ("addmm baddbmm", (("alpha", None), ("beta", None))),
    ("index_fill index_fill_", (("value", 3),)),
    ("normal", (("std", 1),)),
    ("normal_", (("mean", 1), ("std", 2))),
    ("uniform_", (("from", 1), ("to", 2))),
    ("softplus", (("beta", 1), ("threshold", 2))),
    ("leaky_relu", (("negative_slope", 1),)),
    ("elu", (("alpha", 1),)),
    ("threshold", (("threshold", 1), ("value", 2))),
    ("hardtanh", (("min_val", 1), ("max_val", 2))),
    ("dropout", (("p", 1),)),
    ("nan_to_num", (("nan", 1), ("posinf", 2), ("neginf", 3))),
)
_CLAMPS = names(["clamp clamp_ clip clip_"])
_OPS = frozenset(row.op for row in operations_of("CL106"))
_DISTRIBUTIONS = frozenset(op for op in _OPS if op.startswith("torch.distributions."))


def _forms() -> Iterator[str]:
    """Yield what calls must look like in which a number may be a tensor."""
    for words, arguments in _NUMBERS:
        for method in words.split():
            for keyword, position in arguments:
                yield f"{method}({keyword}=)"
                if position is not None:
                    yield f"{method}(@{position})"


class DeviceScalarArgument(Rule):
    about = About(
        code="CL106",
        name="device-scalar-argument",
        effects=(Effect.REFUSES,),
        since="0.1",
        waits=True,
    )
    triggers = Triggers(
        names=names(f"{op}(tensor)" for op in _DISTRIBUTIONS)
        | names(f"{method}(more)" for method in _CLAMPS)
        | names(_forms()),
        traits=frozenset({Trait.TENSOR_SUBSCRIPT}),
    )

    def visit_Call(self, node: cst.Call) -> None:
        name = self.full_name(node.func)
        if name.startswith("torch.distributions."):
            self._judge_distribution(node, name)
            return
        called = method_call(node)
        if name in _OPS:
            self._judge_call(node, name.rpartition(".")[2], shift=0)
        elif called is not None and not name and self._is_method(*called):
            self._judge_call(node, called[1], shift=1)

    def visit_Assign(self, node: cst.Assign) -> None:
        value = self.value(node.value)
        if not _is_sure(value) or value.rank != 0:
            return
        for assigned in node.targets:
            target = assigned.target
            if isinstance(target, cst.Subscript) and self._has_mask(target):
                self.report(target, "`x[mask] = t` reads `t` on the host, which capture refuses")

    def _judge_call(self, node: cst.Call, method: str, *, shift: int) -> None:
        if method in _CLAMPS:
            self._judge_clamp(node, method, shift=shift)
            return
        for keyword, position in _numbers_of(method):
            given = argument(node, keyword, None if position is None else position - shift)
            if given is not None and _is_sure(self.value(given)):
                self._say(node, f"{method}({keyword}=tensor)")
                return

    def _judge_clamp(self, node: cst.Call, method: str, *, shift: int) -> None:
        low = argument(node, "min", 1 - shift)
        high = argument(node, "max", 2 - shift)
        if low is None or high is None:
            return
        bounds = (self.value(low), self.value(high))
        if any(map(_is_sure, bounds)) and any(map(_is_number, bounds)):
            self._say(node, f"{method}(number, tensor)")

    def _judge_distribution(self, node: cst.Call, name: str) -> None:
        word = name.rpartition(".")[2]
        if f"torch.distributions.{word}" not in _DISTRIBUTIONS:
            return
        if argument(node, "validate_args") is not None:
            return
        if any(not arg.star and _is_sure(self.value(arg.value)) for arg in node.args):
            self.report(node, f"`{word}()` checks its tensors on the host, which capture refuses")

    def _is_method(self, receiver: cst.BaseExpression, method: str) -> bool:
        if f"Tensor.{method}" not in _OPS:
            return False
        value = self.value(receiver)
        return value.is_tensor or (value.kind is Kind.UNKNOWN and not value.refs)

    def _has_mask(self, target: cst.Subscript) -> bool:
        receiver = self.value(target.value)
        if receiver.kind not in (Kind.DEVICE_TENSOR, Kind.UNKNOWN) or receiver.refs:
            return False
        return any(_is_mask(self.value(index)) for index in _indices(target))

    def _say(self, node: cst.Call, form: str) -> None:
        self.report(node, f"`{form}` reads the tensor on the host, which capture refuses")


def _numbers_of(method: str) -> tuple[tuple[str, int | None], ...]:
    for words, arguments in _NUMBERS:
        if method in words.split():
            return arguments
    return ()


def _indices(target: cst.Subscript) -> Iterator[cst.BaseExpression]:
    """Yield the indices of a subscript that are no slices, those of a tuple one by one."""
    for element in target.slice:
        if isinstance(element.slice, cst.Index):
            index = element.slice.value
            if isinstance(index, cst.Tuple):
                yield from (part.value for part in index.elements)
            else:
                yield index


def _is_sure(value: Value) -> bool:
    return value.is_device_tensor and not value.weak and not value.optional


def _is_number(value: Value) -> bool:
    return value.kind in (Kind.HOST_VALUE, Kind.SHAPE) and not value.is_none and not value.optional


def _is_mask(value: Value) -> bool:
    return value.is_device_tensor and value.dtype == "bool"
