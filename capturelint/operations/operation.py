"""One row of the table of operations, and how a family of like rows is written down."""

from __future__ import annotations

from dataclasses import dataclass

from capturelint.finding import Effect
from capturelint.release import Release, is_in

# Every version that the dynamic half supports.
ANY_TORCH = ">=2.6"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation in one form of its arguments.

    `op`: `Tensor.item` is a method, `torch.nonzero` a function, `builtins.int` a builtin,
    `Tensor.__getitem__` a subscript.
    `form`: the arguments that make it so, in words; "" for every form, and then the name (with
    `spared_by` and `spared_from`) is all that a rule has to look at.
    `effect`: None when the form is safe to capture.
    `rule`: the code that reports it, "" when none does.
    `spared_by`: keyword arguments that make the call safe, such as `output_size`.
    `spared_from`: number of positional arguments (receiver not counted) from which it is safe, or 0.
    `torch`: versions it holds for. How a row is known says `measured.known_from`, from a record of the
    code that tests/record/forms has for each.
    """

    op: str
    form: str
    effect: Effect | None
    rule: str
    torch: str
    spared_by: tuple[str, ...] = ()
    spared_from: int = 0

    def holds_for(self, release: Release | None) -> bool:
        """Return whether the row holds for a release of torch; None stands for any."""
        return release is None or is_in(release, self.torch)


def refusing(
    rule: str,
    ops: str,
    form: str = "",
    *,
    torch: str = ANY_TORCH,
    spared_by: tuple[str, ...] = (),
    spared_from: int = 0,
) -> tuple[Operation, ...]:
    """Return one row for each of the space-separated `ops`, all refusing capture alike."""
    return tuple(
        Operation(op, form, Effect.REFUSES, rule, torch, spared_by, spared_from)
        for op in ops.split()
    )


def stale(rule: str, ops: str, form: str = "", *, torch: str = ANY_TORCH) -> tuple[Operation, ...]:
    """Return one row for each of the space-separated `ops`: captured, then silently wrong."""
    return tuple(Operation(op, form, Effect.STALE, rule, torch) for op in ops.split())


def safe(ops: str, form: str = "", *, torch: str = ANY_TORCH) -> tuple[Operation, ...]:
    """Return one row for each of the space-separated `ops`, all captured and replayed rightly."""
    return tuple(Operation(op, form, None, "", torch) for op in ops.split())
