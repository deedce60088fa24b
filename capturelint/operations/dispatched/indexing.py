"""Indexing with tensors: masks, indices that live on the host, and values that do."""

from __future__ import annotations

from capturelint.operations.dispatched.row import (
    HOST_COPY,
    SHAPE,
    SOURCE,
    Dispatched,
    refusing,
    safe,
)
from capturelint.operations.messages import UNPINNED

_WRITES = "index_put index_put_"
_INNER = "_index_put_impl_ _unsafe_index_put"

INDEXING: tuple[Dispatched, ...] = (
    *refusing("CL203", "index.Tensor", "a host index", kind=HOST_COPY, message=UNPINNED),
    *refusing("CL302", "index.Tensor", "a mask", kind=SHAPE),
    *refusing(
        "CL203",
        "_unsafe_index.Tensor",
        "a host index",
        kind=HOST_COPY,
        message=UNPINNED,
        checked=SOURCE,
    ),
    *refusing("CL302", "_unsafe_index.Tensor", "a mask", kind=SHAPE, checked=SOURCE),
    # One mask and one number on the host: filled in.
    *safe(_WRITES, "a mask and a host value, not accumulated"),
    *safe(_INNER, "a mask and a host value, not accumulated", checked=SOURCE),
    *refusing("CL203", _WRITES, "a host value or index", kind=HOST_COPY, message=UNPINNED),
    *refusing(
        "CL203", _INNER, "a host value or index", kind=HOST_COPY, message=UNPINNED, checked=SOURCE
    ),
    *refusing("CL302", _WRITES, "a mask", kind=SHAPE),
    *refusing("CL302", _INNER, "a mask", kind=SHAPE, checked=SOURCE),
)
