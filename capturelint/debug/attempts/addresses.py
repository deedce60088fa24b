"""Which lines read the address of a tensor: a graph keeps what it was during capture."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from capturelint.debug.frames import users_frames
from capturelint.verdict import Place


@contextmanager
def addresses_read() -> Iterator[list[tuple[Place, int]]]:
    """Fill a list with the user's lines inside that call `data_ptr`, and what that returned."""
    found: list[tuple[Place, int]] = []
    read = torch.Tensor.data_ptr

    def noting(tensor: torch.Tensor) -> int:
        address = read(tensor)
        caller = sys._getframe(1)  # noqa: SLF001 - no other way to know it
        places = users_frames(caller, limit=1)
        # What launches a kernel passes addresses on: those of static inputs stay.
        if places and _LAUNCHER not in caller.f_code.co_filename:
            found.append((places[0], address))
        return address

    is_own = "data_ptr" in vars(torch.Tensor)
    setattr(torch.Tensor, _NAME, noting)
    try:
        yield found
    finally:
        if is_own:
            setattr(torch.Tensor, _NAME, read)
        else:
            delattr(torch.Tensor, _NAME)


_NAME = "data_ptr"
_LAUNCHER = f"{os.sep}triton{os.sep}"
