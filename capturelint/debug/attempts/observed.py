"""The parameters, buffers and gradients that calls write: a replay must write the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import torch
from torch import Tensor

from capturelint.debug.attempts.reachable import reachable
from capturelint.debug.running import joined
from capturelint.debug.states.marks import place_of
from capturelint.debug.states.storages import is_host

# Batch norms write these without telling autograd (torch 2.6 to 2.13).
_WRITTEN_IN_SECRET = frozenset({"running_mean", "running_var"})

Seal: TypeAlias = tuple[object, ...]


class Observed:
    """The registered tensors of the modules that `run` holds, those in host memory apart."""

    def __init__(self, run: object) -> None:
        self._modules = reachable(run)

    def tensors(self) -> dict[str, Tensor]:
        """Return what is registered now, by name."""
        return {name: tensor for name, tensor in self._registered() if not is_host(tensor)}

    def buffers(self) -> dict[str, Tensor]:
        """Return the buffers that are registered now, by name."""
        return {
            joined(path, name): buffer
            for path, module in self._modules.items()
            for name, buffer in module.named_buffers(recurse=False)
        }

    def seals(self) -> dict[str, Seal]:
        """Return what tells whether a tensor was written or replaced since."""
        return {name: _seal(name, tensor) for name, tensor in self.tensors().items()}

    def written(self, since: dict[str, Seal]) -> dict[str, Tensor]:
        """Return copies of the tensors that were written, replaced or added since then.

        And forget their seals in `since`: what is exchanged and put back is still told of.
        """
        found: dict[str, Tensor] = {}
        with torch.inference_mode(mode=False), torch.no_grad():
            for name, tensor in self.tensors().items():
                seal = _seal(name, tensor)
                if None in seal or seal != since.get(name):
                    since.pop(name, None)
                    found[name] = tensor.detach().clone()
        return found

    def _registered(self) -> Iterator[tuple[str, Tensor]]:
        for path, module in self._modules.items():
            for name, buffer in module.named_buffers(recurse=False):
                yield joined(path, name), buffer
            for name, parameter in module.named_parameters(recurse=False):
                yield joined(path, name), parameter
                if parameter.grad is not None:
                    yield joined(path, f"{name}.grad"), parameter.grad


def _seal(name: str, tensor: Tensor) -> Seal:
    """Return identity, memory and version; None as a version that cannot be told."""
    is_secret = name.rpartition(".")[2] in _WRITTEN_IN_SECRET
    version = None if is_secret or tensor.is_inference() else tensor._version  # noqa: SLF001 - no public name
    return id(tensor), place_of(tensor), version
