"""Kernels of Triton's for cases. Importing this needs Triton."""

from __future__ import annotations

import triton
import triton.language as tl


# Triton reads the annotations, and knows none of Python's.
@triton.jit  # type: ignore[untyped-decorator,unused-ignore] # Triton has no types everywhere
def add(x, held, y, block: tl.constexpr):  # type: ignore[no-untyped-def,unused-ignore]
    """Write `x + held` to `y`, each program one block of it."""
    places = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + places, tl.load(x + places) + tl.load(held + places))
