"""The table of operations: what each does under capture, in which form, and how that is known."""

from __future__ import annotations

from capturelint.operations.arguments import ARGUMENTS
from capturelint.operations.branches import BRANCHES
from capturelint.operations.copies import COPIES
from capturelint.operations.libraries import LIBRARIES
from capturelint.operations.operation import Operation
from capturelint.operations.reads import READS
from capturelint.operations.shapes import SHAPES

__all__ = ["OPERATIONS", "Operation", "operations_of"]

OPERATIONS: tuple[Operation, ...] = (
    *READS,
    *ARGUMENTS,
    *COPIES,
    *SHAPES,
    *BRANCHES,
    *LIBRARIES,
)


def operations_of(rule: str) -> tuple[Operation, ...]:
    """Return the operations that the rule with code `rule` reports, in table order."""
    return tuple(row for row in OPERATIONS if row.rule == rule)
