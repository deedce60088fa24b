"""Operations that read a value on the host, also those that do so inside their kernels."""

from __future__ import annotations

from capturelint.operations.dispatched.row import (
    HOST_READ,
    RANDOM,
    SOURCE,
    Dispatched,
    refusing,
    safe,
)

READS: tuple[Dispatched, ...] = (
    *refusing("CL101", "_local_scalar_dense", kind=HOST_READ),
    # Tensors that are one and the same, or whose sizes differ, are compared without a look.
    *safe("equal", "the same memory, or other sizes"),
    *refusing("CL402", "equal", kind=HOST_READ),
    *refusing("CL402", "allclose", kind=HOST_READ),
    *refusing(
        "CL106",
        "masked_fill.Tensor masked_fill_.Tensor index_fill.int_Tensor",
        "a device value",
        kind=HOST_READ,
    ),
    *refusing("CL106", "index_fill_.int_Tensor", "a device value", kind=HOST_READ, checked=SOURCE),
    *refusing(
        "CL104",
        "linspace.Tensor_Tensor linspace.Tensor_Scalar linspace.Scalar_Tensor "
        "logspace.Tensor_Tensor logspace.Tensor_Scalar logspace.Scalar_Tensor",
        "a device bound",
        kind=HOST_READ,
    ),
    # The spread is tested for numbers below zero.
    *refusing("CL106", "normal.Tensor_Tensor normal.float_Tensor", kind=RANDOM),
    # The sorter is tested for indices out of range.
    *refusing("", "searchsorted.Tensor", "a sorter", kind=HOST_READ),
    *refusing("", "searchsorted.Scalar", "a sorter", kind=HOST_READ, checked=SOURCE),
    # Long rows are sorted by a library that waits.
    *refusing("", "mode", "rows of more than 2048", kind=HOST_READ),
    *safe("segment_reduce", "unchecked lengths"),
    *refusing("", "segment_reduce", kind=HOST_READ),
)
