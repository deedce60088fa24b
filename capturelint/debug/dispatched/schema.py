"""What an operator's schema, and what is known beyond it, say about how to run and record it."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from torch._ops import OpOverload

# Kernels that write arguments which their schema calls read-only: positions by operator.
_WRITES_UNSAID = {
    "aten::native_batch_norm": (3, 4),
    "aten::cudnn_batch_norm": (3, 4),
    "aten::miopen_batch_norm": (3, 4),
    "aten::_batch_norm_impl_index": (3, 4),
    "aten::batch_norm_update_stats": (1, 2),
    "aten::batch_norm_gather_stats": (3, 4),
    "aten::batch_norm_gather_stats_with_counts": (3, 4),
}
_ALLOCATES = frozenset(
    "aten::empty aten::empty_strided aten::empty_like aten::new_empty aten::new_empty_strided "
    "aten::empty_permuted aten::_empty_affine_quantized".split()
)
# These answer from sizes, flags or types: a number that they return was not read from the device.
_READS_NO_DATA = frozenset(
    "_use_cudnn_ctc_loss _use_miopen_ctc_loss is_pinned _fused_sdp_choice is_same_size "
    "_has_compatible_shallow_copy_type _has_same_storage_numel q_scale q_zero_point sym_size sym_numel "
    "_nested_get_ragged_idx is_set_to _version dense_dim sparse_dim is_coalesced "
    "_nested_tensor_storage_offsets _debug_has_internal_overlap _dimI _dimV _nnz".split()
)
# Operators that take tensors of both sides. The host's are read when the work is launched.
_TAKES_BOTH = frozenset(
    "index index_put index_put_ _index_put_impl_ _to_copy copy_ copy _foreach_copy_ "
    "_foreach_addcdiv _foreach_addcdiv_ _foreach_addcmul _foreach_addcmul_ "
    "_pack_padded_sequence _pad_packed_sequence set_ lift_fresh lift_fresh_copy _cudnn_rnn "
    "tensor_split _ctc_loss _ctc_loss_backward _use_cudnn_ctc_loss _use_miopen_ctc_loss fill_ "
    "fill resize_as_ is_set_to segment_reduce".split()
)
# Of operators whose kernels take no host scalar in place of a device tensor, the common ones.
_TAKES_NO_HOST_SCALAR = frozenset(
    "mm addmm bmm baddbmm convolution embedding gather index_select cat stack "
    "native_layer_norm".split()
)
_NUMBERS = frozenset(("int", "float", "bool", "Scalar", "number", "SymInt", "complex"))


@dataclass(frozen=True, slots=True)
class Schema:
    """The facts about one overload.

    `name`: as `aten::add`. `short`: as `add`. `label`: as the dispatcher prints it, `aten.add.Tensor`.
    `writes`: position (or None if keyword-only) and name of each argument that it writes, those
    unsaid in `writes_unsaid`. `reshapes`: changes sizes or strides of what it writes; `resizes`: may
    do so. `draws`: takes random numbers. `allocates`: returns memory without content. `reads`:
    returns a number made from the data of its tensors. `is_composite`: made of other operators, which
    it comes apart into before it is dispatched, but not in inference mode; one that has a kernel as
    well is none, for its kernel is what CUDA runs; `is_composite_on_cuda`: the same by the kernels for
    CUDA, where torch was built with them. `is_known`: torch's own.
    """

    name: str
    short: str
    label: str
    writes: tuple[tuple[int | None, str], ...]
    writes_unsaid: tuple[int, ...]
    is_view: bool
    reshapes: bool
    resizes: bool
    draws: bool
    allocates: bool
    reads: bool
    takes_both: bool
    takes_host_scalar: bool
    is_composite: bool
    is_composite_on_cuda: bool
    is_known: bool


@cache
def schema_of(func: OpOverload) -> Schema:
    """Return the facts about an overload."""
    schema = func._schema
    short = schema.name.split("::")[1]
    writes = tuple(
        (None if argument.kwarg_only else position, argument.name)
        for position, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )
    reshapes = torch.Tag.inplace_view in func.tags
    return Schema(
        name=schema.name,
        short=short,
        label=str(func),
        writes=writes,
        writes_unsaid=_WRITES_UNSAID.get(schema.name, ()),
        is_view=func.is_view,
        reshapes=reshapes,
        resizes=reshapes or any(position is None for position, _ in writes),
        draws=torch.Tag.nondeterministic_seeded in func.tags,
        allocates=schema.name in _ALLOCATES,
        reads=_returns_numbers(func) and short not in _READS_NO_DATA,
        takes_both=short in _TAKES_BOTH or short in _READS_NO_DATA or "nested" in short,
        takes_host_scalar=short not in _TAKES_NO_HOST_SCALAR,
        is_composite=func._can_decompose() and not _has_kernel(func, "CPU"),
        is_composite_on_cuda=func._can_decompose() and not _has_kernel(func, "CUDA"),
        is_known=func.namespace in ("aten", "prims", "prim", "profiler"),
    )


def _has_kernel(func: OpOverload, key: str) -> bool:
    return torch._C._dispatch_has_kernel_for_dispatch_key(func._name, key)


def _returns_numbers(func: OpOverload) -> bool:
    types = [str(result.type) for result in func._schema.returns]
    return bool(types) and all(kind in _NUMBERS for kind in types)
