"""torch's sync debug mode, for a while: what happens when an operation waits for the device."""

# ruff: noqa: SLF001 - the public names may be exchanged for ours

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

import torch


class OnSync(IntEnum):
    """What an operation that waits for the device does, by torch's numbers."""

    NOTHING = 0
    WARN = 1
    RAISE = 2


@contextmanager
def on_sync(mode: OnSync) -> Iterator[None]:
    """Let operations that wait do as `mode` says; nothing changes where torch has no CUDA."""
    bindings: Any = torch._C
    if not hasattr(bindings, "_cuda_set_sync_debug_mode"):
        yield
        return
    before = bindings._cuda_get_sync_debug_mode()
    _set(mode)
    try:
        yield
    finally:
        _set(before)


def _set(mode: int) -> None:
    bindings: Any = torch._C
    if bindings._cuda_get_sync_debug_mode() == mode:
        return
    with warnings.catch_warnings():
        # The first change in a process says that the mode is a prototype.
        warnings.simplefilter("ignore")
        bindings._cuda_set_sync_debug_mode(int(mode))
