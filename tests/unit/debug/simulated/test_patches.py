"""Exchanged names: put back in order, and understood by TorchScript."""

from __future__ import annotations

from types import SimpleNamespace

import torch
from torch.jit import _builtins

from capturelint.debug.simulated.patches import Patches


def test_names_come_back_in_the_opposite_order_and_added_ones_go() -> None:
    owner = SimpleNamespace(kept=1)
    patches = Patches()
    for value in (2, 3):
        patches.put(owner, "kept", value)
        patches.put(owner, "added", value)

    assert vars(owner) == {"kept": 3, "added": 3}
    patches.put_back()
    assert vars(owner) == {"kept": 1}


def test_torchscript_takes_what_stands_for_an_operation_as_that_operation() -> None:
    original = torch.tensor
    patches = Patches()

    def stand_in(*args: object, **kwargs: object) -> object:
        return original(*args, **kwargs)  # type: ignore[arg-type] # as they come

    patches.put(torch, "tensor", stand_in)
    named = _builtins._find_builtin(stand_in)  # type: ignore[no-untyped-call] # torch leaves it so
    patches.put_back()
    after = _builtins._find_builtin(stand_in)  # type: ignore[no-untyped-call] # torch leaves it so

    assert (named, after) == ("aten::tensor", None)
    assert torch.tensor is original
