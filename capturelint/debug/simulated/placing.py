"""Trees of tensors on their way to the simulated device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import torch

from capturelint.debug import placing
from capturelint.debug.simulated.carried import with_class
from capturelint.debug.simulated.tensor import DeviceTensor

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator


_Tree = TypeVar("_Tree")


def placed(tree: _Tree, simulator: Simulator) -> _Tree:
    """Return a copy of `tree` with its host tensors on the simulated device; modules are moved."""
    return placing.placed(tree, lambda group: _together(group, simulator))


def _together(group: Sequence[torch.Tensor], simulator: Simulator) -> dict[int, torch.Tensor]:
    """Return tensors on the device for those of one storage, by the id of each."""
    storage = group[0].untyped_storage().clone()  # type: ignore[no-untyped-call]
    moved: dict[int, torch.Tensor] = {}
    for tensor in group:
        elem = torch.empty(0, dtype=tensor.dtype)
        elem.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())
        grows = tensor.requires_grad and tensor.is_leaf
        placed_one = DeviceTensor.over(elem, simulator, requires_grad=grows)
        moved[id(tensor)] = with_class(placed_one, type(tensor))
    return moved
