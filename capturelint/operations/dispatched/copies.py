"""Operations that move memory between the host and the device."""

from __future__ import annotations

from capturelint.operations.dispatched.row import HOST_COPY, SOURCE, Dispatched, refusing, safe
from capturelint.operations.messages import UNPINNED

COPIES: tuple[Dispatched, ...] = (
    # A copy of nothing returns before CUDA is asked.
    *safe("_to_copy copy_", "no elements"),
    *refusing(
        "CL202", "_to_copy copy_", "unpinned memory to the device", kind=HOST_COPY, message=UNPINNED
    ),
    *refusing("CL202", "_to_copy copy_", "pinned memory to the device, waiting", kind=HOST_COPY),
    *refusing(
        "CL102", "_to_copy copy_", "the device to unpinned memory", kind=HOST_COPY, message=UNPINNED
    ),
    *refusing("CL102", "copy_", "the device to pinned memory, waiting", kind=HOST_COPY),
    *refusing(
        "CL202", "_foreach_copy_", "a list with host tensors", kind=HOST_COPY, message=UNPINNED
    ),
    *refusing("CL202", "where.self", "a host value", kind=HOST_COPY, message=UNPINNED),
    *refusing("CL202", "bernoulli_.Tensor", "a host value", kind=HOST_COPY, message=UNPINNED),
    *refusing(
        "CL202",
        "bernoulli.Tensor",
        "a host value",
        kind=HOST_COPY,
        message=UNPINNED,
        checked=SOURCE,
    ),
    # The loss needs lengths and targets on the host.
    *refusing("", "_ctc_loss", kind=HOST_COPY, message=UNPINNED),
    # Of other dtypes the groups are multiplied one by one, between offsets read on the host.
    *safe("_grouped_mm", "bfloat16, or no offsets"),
    *refusing("", "_grouped_mm", kind=HOST_COPY, message=UNPINNED),
)
