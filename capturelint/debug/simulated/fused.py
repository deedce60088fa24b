"""Operations that are one kernel on CUDA but many here: recurrent layers and attention."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._ops import OpOverload
from torch.nn.functional import linear

from capturelint.operations.dispatched import FUSED

if TYPE_CHECKING:
    from capturelint.debug.simulated.patches import Patches
    from capturelint.debug.simulated.simulator import Simulator

# The key at which device tensors meet an operation before it is taken apart.
_KEY = "AutogradCUDA"
_Library: Any = torch.library.Library
_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd


@contextmanager
def noticed(simulator: Simulator) -> Iterator[None]:
    """Return a context in which such operations are known before they are taken apart."""
    library = _Library("aten", "IMPL")
    for overload in _overloads():
        name = str(overload._schema.name).removeprefix("aten::")
        full = f"{name}.{overload._schema.overload_name}".removesuffix(".")
        library.impl(full, _kernel(simulator, overload), _KEY)
    try:
        yield
    finally:
        library._destroy()


def put_recurrent(patches: Patches, simulator: Simulator) -> None:
    """Let recurrent layers lay out their weights for cuDNN, which makes its handle."""

    def flatten_parameters(self: nn.RNNBase) -> None:
        if all(weight is not None and weight.is_cuda for weight in self._flat_weights):
            simulator.libraries.open_dnn("torch.nn.RNNBase.flatten_parameters")

    patches.put(nn.RNNBase, "flatten_parameters", flatten_parameters)


def _overloads() -> Iterator[OpOverload]:
    for name in sorted({row.op.removeprefix("aten::") for row in FUSED}):
        packet = getattr(torch.ops.aten, name)
        for overload in packet.overloads():
            yield getattr(packet, overload)
    yield from _CELLS


def _kernel(simulator: Simulator, overload: OpOverload) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        with simulator.libraries.doing(overload, args, kwargs):
            # Torch's way through a fused cell has no backward on the host.
            body = _differentiable(overload) if torch.is_grad_enabled() else None
            if body is not None:
                return body(*args, **kwargs)
            return overload._op_dk(_COMPOSITE, *args, **kwargs)

    return run


@cache
def _differentiable(overload: OpOverload) -> Callable[..., Any] | None:
    """Return a body for a recurrent layer that is made of operations with a backward, or None."""
    if overload in _CELLS:
        return _CELLS[overload]
    # It takes a second to import, for which few models have a use.
    from torch._decomp import decomposition_table

    return decomposition_table.get(overload)


def _lstm_cell(
    x: torch.Tensor,
    hx: Sequence[torch.Tensor],
    w_ih: torch.Tensor,
    w_hh: torch.Tensor,
    b_ih: torch.Tensor | None = None,
    b_hh: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    hidden, cell = hx
    gates = linear(x, w_ih, b_ih) + linear(hidden, w_hh, b_hh)
    opened, forgotten, fresh, shown = gates.chunk(4, -1)
    after = forgotten.sigmoid() * cell + opened.sigmoid() * fresh.tanh()
    return shown.sigmoid() * after.tanh(), after


def _gru_cell(
    x: torch.Tensor,
    hx: torch.Tensor,
    w_ih: torch.Tensor,
    w_hh: torch.Tensor,
    b_ih: torch.Tensor | None = None,
    b_hh: torch.Tensor | None = None,
) -> torch.Tensor:
    reset_in, update_in, new_in = linear(x, w_ih, b_ih).chunk(3, -1)
    reset_hidden, update_hidden, new_hidden = linear(hx, w_hh, b_hh).chunk(3, -1)
    update = (update_in + update_hidden).sigmoid()
    new = (new_in + (reset_in + reset_hidden).sigmoid() * new_hidden).tanh()
    return new + update * (hx - new)


_CELLS: dict[OpOverload, Callable[..., Any]] = {
    torch.ops.aten.lstm_cell.default: _lstm_cell,
    torch.ops.aten.gru_cell.default: _gru_cell,
}
