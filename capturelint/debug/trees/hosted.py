"""Memory of the device that is only looked at later: kept on the host, unseen by what watches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.utils._mode_utils import no_dispatch

from capturelint.debug.sync_mode import OnSync, on_sync

_SMALL = 1 << 14  # bytes; less costs more to move than it takes
_PINNED = 1 << 20  # bytes; from here on a copy is several times as fast to and from pinned memory


def is_large_on_device(storage: torch.UntypedStorage, size: int) -> bool:
    """Return whether `size` bytes of a storage lie on a real device and are worth moving."""
    return storage.device.type == "cuda" and size >= _SMALL


def on_host(memory: Tensor) -> Tensor:
    """Return a copy of `memory`, of one dimension, on the host. Waits for the device."""
    with _unseen():
        return _copied_to(_empty_on_host(memory.numel(), memory.dtype), memory)


def on_device(memory: Tensor, device: torch.device) -> Tensor:
    """Return a copy of `memory`, of one dimension, on `device`. Waits for it."""
    with _unseen():
        return _copied_to(torch.empty(memory.numel(), dtype=memory.dtype, device=device), memory)


def storage_on_host(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """Return a copy of a whole storage on the host. Waits for the device."""
    with _unseen():
        copy = _empty_on_host(storage.nbytes(), torch.uint8).untyped_storage()
        copy.copy_(storage)
    return copy


def copy_storage(to: torch.UntypedStorage, source: torch.UntypedStorage) -> None:
    """Copy the bytes of one storage into another of the same size, wherever both lie."""
    with _unseen():
        to.copy_(source)


def _copied_to(to: Tensor, source: Tensor) -> Tensor:
    if type(source) is not Tensor:
        to = to.as_subclass(type(source))
    return to.copy_(source)


def _empty_on_host(size: int, dtype: torch.dtype) -> Tensor:
    if size * dtype.itemsize >= _PINNED:
        try:
            return torch.empty(size, dtype=dtype, device="cpu", pin_memory=True)
        except RuntimeError:  # the system gives no more of it
            pass
    return torch.empty(size, dtype=dtype, device="cpu")


@contextmanager
def _unseen() -> Iterator[None]:
    """Let no dispatch mode see a copy, and no debug mode stop it because it waits."""
    with on_sync(OnSync.NOTHING), no_dispatch():
        yield
