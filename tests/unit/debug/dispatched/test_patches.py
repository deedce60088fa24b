"""Exchanged names: put back in order, and understood by TorchScript."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from capturelint.debug.dispatched.patches import Patches


def test_names_come_back_in_the_opposite_order_and_added_ones_go() -> None:
    owner = SimpleNamespace(kept=1)
    patches = Patches()
    for value in (2, 3):
        patches.put(owner, "kept", value)
        patches.put(owner, "added", value)

    assert vars(owner) == {"kept": 3, "added": 3}
    patches.put_back()
    assert vars(owner) == {"kept": 1}


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * torch.tensor([2.0])


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_torchscript_takes_what_stands_for_an_operation_as_that_operation() -> None:
    original = torch.tensor
    patches = Patches()

    def stand_in(*args: object, **kwargs: object) -> object:
        return original(*args, **kwargs)  # type: ignore[arg-type] # as they come

    patches.put(torch, "tensor", stand_in)
    try:
        scripted = torch.jit.script(doubled)
    finally:
        patches.put_back()

    assert scripted(torch.ones(1)).item() == 2.0
    assert torch.tensor is original
