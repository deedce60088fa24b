"""The tensors on the device that calls write and keep: a replay must write the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

import torch
from torch import Tensor

from capturelint.debug.attempts.reachable import reachable
from capturelint.debug.running import joined
from capturelint.debug.states.held import Held
from capturelint.debug.states.marks import Place, place_of
from capturelint.debug.states.storages import is_host
from capturelint.debug.trees.memory import storage_of
from capturelint.debug.trees.parked import Parked

# Batch norms write these without telling autograd (torch 2.6 to 2.13).
_WRITTEN_IN_SECRET = frozenset({"running_mean", "running_var"})

Seal: TypeAlias = tuple[int, Place | None, int | None]


class Observed:
    """The registered tensors of the modules that `run` holds, and those that are `held` otherwise.

    Those in host memory apart.
    """

    def __init__(self, run: object, held: Held) -> None:
        self._modules = reachable(run)
        registered = {name for name, _ in self._registered()}
        routes = {name: route for name, route in held.routes.items() if name not in registered}
        self._held = replace(held, routes=routes)

    def tensors(self) -> dict[str, Tensor]:
        """Return what is registered or held now, by name; what is both, by the former."""
        found = dict(self._registered())
        registered = {id(tensor) for tensor in found.values()}
        for name, tensor in self._held.tensors():
            if id(tensor) not in registered:
                for one, value in _with_gradient(name, tensor):
                    found.setdefault(one, value)
        return {name: tensor for name, tensor in found.items() if not is_host(tensor)}

    def buffers(self) -> dict[str, Tensor]:
        """Return the buffers that are registered now, by name."""
        return {
            joined(path, name): buffer
            for path, module in self._modules.items()
            for name, buffer in module.named_buffers(recurse=False)
        }

    def seals(self) -> dict[str, Seal]:
        """Return what tells whether a tensor was written or replaced since."""
        return {name: self._seal(name, tensor) for name, tensor in self.tensors().items()}

    def written(
        self, since: Mapping[str, Seal], told: Collection[str] = ()
    ) -> dict[str, Parked[Tensor]]:
        """Return copies of the tensors that were written, replaced or added since then.

        And of those in `told`: what is exchanged and put back is still told of. But which of two
        unregistered tensors stands where is left out: scratch may take turns.
        """
        found: dict[str, Parked[Tensor]] = {}
        storages = {place.storage for _, place, _ in since.values() if place is not None}
        with torch.inference_mode(mode=False), torch.no_grad():
            for name, tensor in self.tensors().items():
                seal, before = self._seal(name, tensor), since.get(name)
                if name in self._held.routes and _is_exchanged(before, seal, storages):
                    continue
                if None in seal or seal != before or name in told:
                    found[name] = _parked(tensor.detach())
        return found

    def _registered(self) -> Iterator[tuple[str, Tensor]]:
        for path, module in self._modules.items():
            for name, buffer in module.named_buffers(recurse=False):
                yield joined(path, name), buffer
            for name, parameter in module.named_parameters(recurse=False):
                yield from _with_gradient(joined(path, name), parameter)

    def _seal(self, name: str, tensor: Tensor) -> Seal:
        """Return identity, memory and version; None as a version that cannot be told."""
        place = place_of(tensor)
        version: int | None = 0
        if name.rpartition(".")[2] in _WRITTEN_IN_SECRET or self._held.is_written(place):
            version = None
        elif not tensor.is_inference():
            version = tensor._version  # noqa: SLF001 - no public name
        elif name not in self._held.routes:
            version = None
        return id(tensor), place, version


def _parked(tensor: Tensor) -> Parked[Tensor]:
    storage = storage_of(tensor)
    # A view may reach over much more memory than it has elements.
    is_whole = storage is not None and storage.nbytes() == tensor.numel() * tensor.element_size()
    return Parked(tensor if is_whole else tensor.clone())


def _is_exchanged(before: Seal | None, now: Seal, storages: Collection[int]) -> bool:
    """Return whether memory that was there already, in `storages`, now stands elsewhere."""
    (_, place, _) = now
    if place is None or place.storage not in storages:
        return False
    return before is None or before[1] is None or before[1].storage != place.storage


def _with_gradient(name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    yield name, tensor
    if tensor.is_leaf and tensor.grad is not None:
        yield f"{name}.grad", tensor.grad
