"""Python's own `max`, `min`, `any`, `all`, `sorted` and `in` compare tensors on the host.

## Why capture cares

These functions ask each comparison whether it is true, and for a tensor on the device the answer is
a read on the host. CUDA refuses it while a stream is capturing, and the capture is lost. Eagerly
each comparison waits for the device once more.

Measured on an H200 with torch 2.11: `max(a, b)` of two 0-d tensors, `max(t, 1.0)`, `any(t)`,
`all(t)`, `sorted(t)`, `n in [1, 2]` and `1 in t` refuse at their line. `sum(t)` and
`sum(list_of_tensors)` only add, and capture.

## What to do instead

Use torch's functions: `torch.maximum(a, b)`, `x.clamp(min=1.0)`, `x.max()`, `x.any()`, `x.all()`,
`x.sort()`, and `torch.isin(n, values)` or `(values == n).any()` for `in`. Their results stay on the
device.

`max` and its like with a `key`, and `in` of a dict, a set or an unknown container are not reported.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import About, Effect, Rule, Trait, Triggers, Value, names

_WORDS = names(["max min any all sorted"])
_FUNCTIONS = frozenset(f"builtins.{word}" for word in _WORDS)
_COMPARING_ARGUMENTS = ("builtins.max", "builtins.min")


class BuiltinOverTensor(Rule):
    about = About(
        code="CL105", name="builtin-over-tensor", effects=(Effect.REFUSES,), since="0.1", waits=True
    )
    triggers = Triggers(
        names=names(f"{word}(tensor)" for word in _WORDS),
        traits=frozenset({Trait.TENSOR_MEMBERSHIP}),
    )

    def visit_Call(self, node: cst.Call) -> None:
        name = self.full_name(node.func)
        if name not in _FUNCTIONS or any(_is_key_or_star(arg) for arg in node.args):
            return
        given = [arg.value for arg in node.args if arg.keyword is None]
        if len(given) == 1:
            is_hazard = self._holds_tensors(given[0])
        else:
            is_hazard = name in _COMPARING_ARGUMENTS and any(
                _is_sure(self.value(operand)) for operand in given
            )
        if is_hazard:
            word = name.removeprefix("builtins.")
            self.report(
                node, f"`{word}()` of Python reads device tensors on the host to compare them"
            )

    def visit_Comparison(self, node: cst.Comparison) -> None:
        left = node.left
        for link in node.comparisons:
            is_membership = isinstance(link.operator, cst.In | cst.NotIn)
            if is_membership and self._is_tensor_membership(left, link.comparator):
                self.report(node, "`in` compares a device tensor on the host during capture")
                return
            left = link.comparator

    def _is_tensor_membership(self, member: cst.BaseExpression, group: cst.BaseExpression) -> bool:
        inside, container = self.value(member), self.value(group)
        if _is_sure(container):
            return not (inside.constant and isinstance(inside.constant[0], str))
        return _is_sure(inside) and isinstance(group, cst.List | cst.Tuple)

    def _holds_tensors(self, node: cst.BaseExpression) -> bool:
        """Return whether iterating `node` gives tensors on the device, and nothing but an order."""
        if isinstance(node, cst.GeneratorExp | cst.ListComp):
            return _is_sure(self.value(node.elt))
        if isinstance(node, cst.List | cst.Tuple):
            return any(_is_sure(self.value(element.value)) for element in node.elements)
        value = self.value(node)
        return _is_sure(value) or (value.element is not None and _is_sure(value.element))


def _is_key_or_star(arg: cst.Arg) -> bool:
    return bool(arg.star) or (arg.keyword is not None and arg.keyword.value == "key")


def _is_sure(value: Value) -> bool:
    return value.is_device_tensor and not value.weak and not value.optional
