"""Which lines read the address of a tensor: a graph keeps what it was during capture."""

from __future__ import annotations

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
        places = users_frames(limit=1)
        if places:
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
