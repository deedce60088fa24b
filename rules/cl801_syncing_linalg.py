"""A linear algebra routine that reports on its success makes the host wait for the report.

`solve`, `inv`, `cholesky`, `svd`, `pinv`, `eigh`, `matrix_exp`, `lstsq` and others, from
`torch.linalg`, under their older names in `torch`, and as methods of tensors.

## Why capture cares

These routines raise on a matrix that cannot be treated, so the host reads a status after each call,
or they move intermediate results through the CPU. While a stream is capturing there is no status to
read: the capture is refused, sometimes with the misleading text of the library (`NOT_INITIALIZED`,
`INTERNAL_ERROR`). After a refused `eigh` the solver's handle stays broken for the whole process.

Measured on an H200 with torch 2.11: these and their relatives refuse at their line (`svdvals`,
`eig`, `lu_factor`, `matrix_rank`, `cond`, `cov`, `norm` with the orders that need singular values,
`matrix_power` with a negative power). `inv_ex`, `solve_ex`, `cholesky_ex`, `det`, `slogdet`, `qr`,
`norm`, `solve_triangular` and `cholesky_solve` capture once they have been warmed up.

## What to do instead

Use the `_ex` form, which returns the status as a tensor: `torch.linalg.inv_ex(a).inverse`,
`torch.linalg.cholesky_ex(a).L`, `torch.linalg.solve_ex(a, b).result`. Its `check_errors=True` reads
the status after all. A matrix that does not change is factorised once, before the region. What has
no such form (`svd`, `eigh`, `pinv`) has to run outside, or give way to an iteration on the device.

Matrices on the CPU are not reported.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import (
    About,
    Effect,
    Rule,
    Triggers,
    argument,
    method_call,
    names,
    operations_of,
)

_ROWS = operations_of("CL801")
# Some refuse in every form, others only with certain arguments.
_ALWAYS = frozenset(row.op for row in _ROWS if not row.form)
_SOMETIMES = frozenset(row.op for row in _ROWS if row.form)
# What the functions call their first argument.
_FIRST = ("A", "input", "self")
# Orders of a norm that are made of singular values.
_SPECTRAL = (2, -2, "nuc")


class SyncingLinalg(Rule):
    about = About(
        code="CL801", name="syncing-linalg", effects=(Effect.REFUSES,), since="0.1", waits=True
    )
    triggers = Triggers(names=names(row.op.removeprefix("Tensor.") for row in _ROWS))

    def visit_Call(self, node: cst.Call) -> None:
        name = self.full_name(node.func)
        if name:
            refuses = name in _ALWAYS or (name in _SOMETIMES and self._is_refused_form(node, name))
            if refuses and self._may_be_on_device(node):
                self._say(node, f"{name}()")
            return
        called = method_call(node)
        if called is None or f"Tensor.{called[1]}" not in _ALWAYS:
            return
        # Other classes invert and decompose too, so the receiver has to be known.
        receiver = self.value(called[0])
        if receiver.is_device_tensor and not receiver.weak:
            self._say(node, f".{called[1]}()")

    def _is_refused_form(self, node: cst.Call, name: str) -> bool:
        second = next(
            (found for word in ("p", "ord", "n") if (found := argument(node, word, 1))), None
        )
        if second is None:
            return name.endswith(".cond") and len(node.args) == 1
        constant = self._constant(second)
        if name.endswith(".matrix_power"):
            return isinstance(constant, int) and constant < 0
        if name.endswith(".linalg.norm") and constant != "nuc":
            return constant in _SPECTRAL and self._is_of_a_matrix(node)
        return constant in _SPECTRAL

    def _constant(self, node: cst.BaseExpression) -> object:
        """Return the constant that an expression is, or None."""
        sign = 1
        if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
            node, sign = node.expression, -1
        constant = next(iter(self.value(node).constant), None)
        return constant * sign if isinstance(constant, int | float) else constant

    def _is_of_a_matrix(self, node: cst.Call) -> bool:
        """Return whether a call of `torch.linalg.norm` is known to take the norm of matrices."""
        dim = argument(node, "dim", 2)
        if dim is None:
            return bool(node.args) and self.value(node.args[0].value).rank == 2
        return isinstance(dim, cst.Tuple | cst.List) and len(dim.elements) == 2

    def _may_be_on_device(self, node: cst.Call) -> bool:
        # All of these take tensors alone, so that a matrix not known still is one.
        found = (argument(node, keyword, 0) for keyword in _FIRST)
        matrix = next((matrix for matrix in found if matrix is not None), None)
        if matrix is None:
            return False
        value = self.value(matrix)
        # Around a captured region small matrices are often decomposed on the host.
        return value.is_device_tensor if self.subject.is_step else not value.is_host

    def _say(self, node: cst.Call, text: str) -> None:
        self.report(node, f"`{text}` reads its status on the host, which capture refuses")
