"""What the dispatcher's operations do under capture: the table that the simulator is driven by."""

from __future__ import annotations

from capturelint.operations.dispatched.copies import COPIES
from capturelint.operations.dispatched.decompositions import DECOMPOSITIONS
from capturelint.operations.dispatched.handles import FUSED, HANDLES, Handle
from capturelint.operations.dispatched.indexing import INDEXING
from capturelint.operations.dispatched.reads import READS
from capturelint.operations.dispatched.row import Dispatched
from capturelint.operations.dispatched.shapes import SHAPES

__all__ = ["DISPATCHED", "FUSED", "HANDLES", "Dispatched", "Handle"]

DISPATCHED: tuple[Dispatched, ...] = (
    *READS,
    *COPIES,
    *INDEXING,
    *SHAPES,
    *DECOMPOSITIONS,
)
