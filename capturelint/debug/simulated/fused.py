"""Operations that are one kernel on CUDA but many here: recurrent layers and attention."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._ops import OpOverload

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


def _kernel(simulator: Simulator, overload: OpOverload) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        with simulator.libraries.doing(overload, args, kwargs):
            return overload._op_dk(_COMPOSITE, *args, **kwargs)

    return run
