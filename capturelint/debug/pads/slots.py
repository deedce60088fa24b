"""Writes of two rows to one slot that end the same on each run: the last row wins."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def last_wins() -> Iterator[None]:
    """Let the last of two writes of one indexed operation stay, on a GPU as on the host.

    Pad rows come last, so that one with the slot of a real row shows. Without this a GPU may let
    either win: ATen sorts the indices of `index_put_` and keeps the last only where deterministic
    algorithms are asked for (torch 2.6 to 2.13, `index_put_with_sort_kernel`).
    """
    was = torch.are_deterministic_algorithms_enabled()
    was_warning = torch.is_deterministic_algorithms_warn_only_enabled()
    was_filling = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined] # set by a module class
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*deterministic")
        torch.use_deterministic_algorithms(mode=True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined] # as above
        try:
            yield
        finally:
            torch.utils.deterministic.fill_uninitialized_memory = was_filling  # type: ignore[attr-defined] # as above
            torch.use_deterministic_algorithms(mode=was, warn_only=was_warning)
