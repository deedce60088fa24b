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
    from capturelint.debug.dispatched.patches import Patches
    from capturelint.debug.simulated.simulator import Simulator

# The key at which device tensors meet an operation before it is taken apart.
_KEY = "AutogradCUDA"
_Library: Any = torch.library.Library


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
    yield from _BODIES


def _kernel(simulator: Simulator, overload: OpOverload) -> Callable[..., Any]:
    def run_it(*args: Any, **kwargs: Any) -> Any:
        return run(simulator, overload, args, kwargs)

    return run_it


def run(
    simulator: Simulator, overload: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run a composite operation by its parts, as CUDA would do it as far as that is seen."""
    with simulator.libraries.doing(overload, args, kwargs):
        body = _BODIES.get(overload)
        # Torch's way through a fused cell has no backward on the host.
        if body is None and torch.is_grad_enabled() and overload in _layers():
            body = _differentiable(overload)
        if body is not None:
            return body(*args, **kwargs)
        return overload.decompose(*args, **kwargs)


@cache
def _layers() -> frozenset[OpOverload]:
    return frozenset(_overloads())


@cache
def _differentiable(overload: OpOverload) -> Callable[..., Any] | None:
    """Return a body for a recurrent layer that is made of operations with a backward, or None."""
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


def _ctc_loss(
    log_probs: torch.Tensor,
    targets: torch.Tensor,
    input_lengths: torch.Tensor,
    target_lengths: torch.Tensor,
    *rest: Any,
    **options: Any,
) -> torch.Tensor:
    # So does torch, but for tensors of other classes than its own.
    lengths = [lengths.cpu().tolist() for lengths in (input_lengths, target_lengths)]
    loss: torch.Tensor = torch.ops.aten.ctc_loss.IntList(
        log_probs, targets, *lengths, *rest, **options
    )
    return loss


_BODIES: dict[OpOverload, Callable[..., Any]] = {
    torch.ops.aten.ctc_loss.Tensor: _ctc_loss,
    torch.ops.aten.lstm_cell.default: _lstm_cell,
    torch.ops.aten.gru_cell.default: _gru_cell,
}
