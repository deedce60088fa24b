"""Which of two writes to one slot stays while runs with pad rows are compared."""

from __future__ import annotations

import warnings

import torch

from capturelint.debug.pads.slots import last_wins


def test_the_last_of_two_writes_wins_and_the_mode_is_put_back() -> None:
    # On a GPU either could win otherwise; the host has always kept the last.
    slots, cache = torch.tensor([3, 1, 3]), torch.zeros(4)

    with last_wins():
        is_determined = torch.are_deterministic_algorithms_enabled()
        cache[slots] = torch.tensor([1.0, 2.0, 3.0])
        fresh = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined] # set by a module class

    assert cache.tolist() == [0, 2, 0, 3]
    assert is_determined
    assert not fresh
    assert not torch.are_deterministic_algorithms_enabled()
    assert not torch.is_deterministic_algorithms_warn_only_enabled()


def test_operations_that_cannot_be_determined_neither_raise_nor_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with last_wins():
            torch.zeros(3).put_(torch.tensor([0, 0]), torch.tensor([1.0, 2.0]))
