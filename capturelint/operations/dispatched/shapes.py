"""Operations whose result has as many elements as the data says."""

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

SHAPES: tuple[Dispatched, ...] = (
    *refusing(
        "CL301",
        "nonzero masked_select _unique2 unique_dim unique_consecutive",
        kind=SHAPE,
    ),
    *refusing("CL301", "_unique unique_dim_consecutive", kind=SHAPE, checked=SOURCE),
    *safe("repeat_interleave.Tensor", "an output size"),
    *refusing("CL301", "repeat_interleave.Tensor", kind=SHAPE),
    *refusing("CL301", "bincount", kind=SHAPE, message=UNPINNED),
    *refusing("CL301", "histc", "no range", kind=HOST_COPY, message=UNPINNED),
    # Many test elements are sorted and made unique, few are compared one by one.
    *refusing("CL301", "isin.Tensor_Tensor isin.Scalar_Tensor", "many elements", kind=SHAPE),
    # Of a training step that is captured whole.
    *refusing("", "masked_scatter_backward", kind=SHAPE),
    *refusing("", "_to_sparse _to_sparse_csr", kind=SHAPE),
    *refusing("", "_to_sparse_csc _to_sparse_bsr _to_sparse_bsc", kind=SHAPE, checked=SOURCE),
    *refusing("", "to_padded_tensor", kind=HOST_COPY, message=UNPINNED),
    *refusing("", "_nested_tensor_from_mask_left_aligned", kind=SHAPE),
    *refusing("", "_nested_tensor_from_mask", kind=SHAPE, checked=SOURCE),
    # Torch looks for zeros in what was multiplied: its backward takes another path then.
    *refusing("", "cumprod", "the backward of a product", kind=SHAPE),
)
