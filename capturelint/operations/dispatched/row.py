"""One row of the dispatcher's table, and how a family of like rows is written down."""

from __future__ import annotations

from dataclasses import dataclass

from capturelint.finding import Effect
from capturelint.operations.messages import NOT_PERMITTED
from capturelint.operations.operation import ANY_TORCH

# The GPU and torch that "checked" rows were captured and replayed on.
H200 = "H200, torch 2.11.0+cu130"
# Known from torch's sources or documentation alone.
SOURCE = "source"

HOST_READ = "host-read"
HOST_COPY = "host-copy"
SHAPE = "shape"
RANDOM = "random"
SOLVER = "linear-algebra"


@dataclass(frozen=True, slots=True)
class Dispatched:
    """What one operation of the dispatcher does in one form of its arguments.

    `op`: `aten::nonzero` for all its overloads, or with one, `aten::masked_fill.Tensor`.
    `form`: the arguments that make it so, named by a word that the simulator knows; "" for every
    form. Of several rows for one operation the first whose form fits decides.
    `kind`: the class of hazard. `message`: what CUDA or torch says. `rule`: the code that explains
    it, "" when none does. `effect`: None when this form is safe to capture.
    `torch`: versions it holds for. `checked`: the GPU and version it was measured on, or "source".
    """

    op: str
    form: str
    kind: str
    message: str
    rule: str
    effect: Effect | None = Effect.REFUSES
    torch: str = ANY_TORCH
    checked: str = H200


def refusing(
    rule: str,
    ops: str,
    form: str = "",
    *,
    kind: str,
    message: str = NOT_PERMITTED,
    checked: str = H200,
) -> tuple[Dispatched, ...]:
    """Return one row for each of the space-separated `ops`, all refusing capture alike."""
    return tuple(
        Dispatched(f"aten::{op}", form, kind, message, rule, checked=checked) for op in ops.split()
    )


def safe(ops: str, form: str, *, checked: str = H200) -> tuple[Dispatched, ...]:
    """Return one row for each of the space-separated `ops`, safe in this form."""
    return tuple(
        Dispatched(f"aten::{op}", form, "", "", "", effect=None, checked=checked)
        for op in ops.split()
    )
