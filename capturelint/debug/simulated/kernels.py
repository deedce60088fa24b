"""Kernels of the host for dtypes that only CUDA's take: they compute in a wider one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from capturelint.debug.dispatched.tensors import tensors_of
from capturelint.debug.simulated.call import Call

Kernel = Callable[..., Any]
_HALF = (torch.float16, torch.bfloat16)


def lacks_dtype(error: Exception) -> bool:
    """Return whether the host's kernel refused a dtype that CUDA's may take."""
    return "not implemented for '" in str(error)


def in_wider_dtype(kernel: Kernel, call: Call) -> Kernel:
    """Return a kernel that computes in float or double and rounds back."""
    given = tensors_of((*call.args, *call.kwargs.values()))
    narrow = next((tensor.dtype for tensor in given), None)
    # Beside half precision, integers are indices: it is not they that the kernel lacks.
    widened_of = _widened_half if any(t.dtype in _HALF for t in given) else _widened_integers
    written = [getattr(tensor, "elem", tensor) for tensor in call.written()]

    def run(*args: Any, **kwargs: Any) -> Any:
        widened: dict[int, torch.Tensor] = {}

        def wide(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            return widened.setdefault(id(value), widened_of(value))

        result = kernel(*pytree.tree_map(wide, args), **pytree.tree_map(wide, kwargs))
        for tensor in written:
            tensor.copy_(widened[id(tensor)])
        back = {id(widened[id(tensor)]): tensor for tensor in written}
        return pytree.tree_map(lambda value: _narrowed(value, narrow, back), result)

    return run


def _widened_half(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.float() if tensor.dtype in _HALF else tensor


def _widened_integers(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool:
        return tensor
    return tensor.double()


def _narrowed(value: Any, dtype: torch.dtype | None, back: dict[int, torch.Tensor]) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    if id(value) in back:
        return back[id(value)]
    return value.to(dtype) if value.is_floating_point() else value
