"""Which kernel scaled dot product attention is on CUDA, as torch 2.11 chooses it on an H200.

cuDNN comes first for half precision, then torch's own two; what none takes is made of products.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from capturelint.debug.dispatched.arguments import Arguments

_switches: Any = torch.backends.cuda
_HALF = (torch.float16, torch.bfloat16)
_LARGEST_HEAD = 256
_CUDNN_HEAD = 128
_ALIGNED_BYTES = 16


def _is_for_cudnn(arguments: Arguments) -> bool:
    query = _query(arguments)
    if not _switches.cudnn_sdp_enabled() or query.dim() != 4:
        return False
    return query.dtype in _HALF and query.shape[-1] % 8 == 0 and query.shape[-1] <= _CUDNN_HEAD


def _is_fused(arguments: Arguments) -> bool:
    return _is_flash(arguments) or _is_efficient(arguments)


def _is_flash(arguments: Arguments) -> bool:
    query = _query(arguments)
    if not _switches.flash_sdp_enabled() or arguments["attn_mask"] is not None:
        return False
    return query.dim() == 4 and query.dtype in _HALF and query.shape[-1] <= _LARGEST_HEAD


def _is_efficient(arguments: Arguments) -> bool:
    query = _query(arguments)
    if not _switches.mem_efficient_sdp_enabled() or query.dim() != 4:
        return False
    is_aligned = query.shape[-1] * query.element_size() % _ALIGNED_BYTES == 0
    return query.dtype in (*_HALF, torch.float32) and is_aligned


def _query(arguments: Arguments) -> torch.Tensor:
    query: torch.Tensor = arguments["query"]
    return query


FORMS: Mapping[str, Callable[[Arguments], bool]] = {
    "attention as cuDNN takes it": _is_for_cudnn,
    "attention as torch fuses it": _is_fused,
}
