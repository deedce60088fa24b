"""How operators run on the host: substitutes for kernels that only CUDA has, and for dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils import _pytree as pytree

from capturelint.debug.simulated.call import Call, tensors_of
from capturelint.debug.simulated.schema import Schema

Kernel = Callable[..., Any]
_HALF = (torch.float16, torch.bfloat16)


def kernel_of(func: OpOverload, schema: Schema) -> Kernel:
    """Return what runs `func` on plain tensors."""
    return _SUBSTITUTES.get(schema.name, func)


def lacks_dtype(error: Exception) -> bool:
    """Return whether the host's kernel refused a dtype that CUDA's may take."""
    text = str(error)
    return "not implemented for '" in text or "does not support automatic differentiation" in text


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


def _lstm_cell(
    of_input: torch.Tensor,
    of_hidden: torch.Tensor,
    cell: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    gates = _sum(of_input, of_hidden, input_bias, hidden_bias)
    opened, forgotten, fresh, shown = gates.chunk(4, -1)
    opened, forgotten, fresh, shown = (
        opened.sigmoid(),
        forgotten.sigmoid(),
        fresh.tanh(),
        shown.sigmoid(),
    )
    after = forgotten * cell + opened * fresh
    return shown * after.tanh(), after, torch.cat([opened, forgotten, fresh, shown], -1)


def _gru_cell(
    of_input: torch.Tensor,
    of_hidden: torch.Tensor,
    hidden: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    reset_in, update_in, new_in = _sum(of_input, input_bias).chunk(3, -1)
    reset_hidden, update_hidden, new_hidden = _sum(of_hidden, hidden_bias).chunk(3, -1)
    reset = (reset_in + reset_hidden).sigmoid()
    update = (update_in + update_hidden).sigmoid()
    new = (new_in + reset * new_hidden).tanh()
    workspace = torch.cat([reset, update, new, hidden, new_hidden], -1)
    return new + update * (hidden - new), workspace


def _sum(first: torch.Tensor, *others: torch.Tensor | None) -> torch.Tensor:
    for other in others:
        if other is not None:
            first = first + other
    return first


_SUBSTITUTES: dict[str, Kernel] = {
    "aten::_use_cudnn_ctc_loss": lambda *_args, **_kwargs: False,
    "aten::_use_miopen_ctc_loss": lambda *_args, **_kwargs: False,
    "aten::_thnn_fused_lstm_cell": _lstm_cell,
    "aten::_thnn_fused_gru_cell": _gru_cell,
}
