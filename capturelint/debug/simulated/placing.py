"""Trees of tensors on their way to the device: what shares memory before shares it afterwards."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeVar

import torch

from capturelint.debug.simulated.call import storage_of
from capturelint.debug.simulated.carried import with_class
from capturelint.debug.simulated.tensor import DeviceTensor
from capturelint.debug.trees.copies import with_others
from capturelint.debug.trees.trees import leaves

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator

_Tree = TypeVar("_Tree")


def placed(tree: _Tree, simulator: Simulator) -> _Tree:
    """Return a copy of `tree` with its host tensors on the device; objects and containers anew.

    Modules are moved where they are, with their parameters.
    """
    values = [leaf.value for leaf in leaves(tree)]
    for value in values:
        if isinstance(value, torch.nn.Module):
            value.cuda()
    tensors = {
        id(value): value
        for value in values
        if isinstance(value, torch.Tensor) and not isinstance(value, DeviceTensor)
    }
    return with_others(tree, _moved(list(tensors.values()), simulator))


def _moved(tensors: list[torch.Tensor], simulator: Simulator) -> dict[int, torch.Tensor]:
    sharing: defaultdict[int, list[torch.Tensor]] = defaultdict(list)
    for tensor in tensors:
        sharing[storage_of(tensor)].append(tensor)
    moved: dict[int, torch.Tensor] = {}
    for group in sharing.values():
        if len(group) == 1:
            moved[id(group[0])] = _alone(group[0])
        else:
            moved.update(_together(group, simulator))
    return moved


def _alone(tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.is_leaf:
        return tensor.cuda()
    return tensor.detach().cuda().requires_grad_(tensor.requires_grad)


def _together(group: list[torch.Tensor], simulator: Simulator) -> dict[int, torch.Tensor]:
    storage = group[0].untyped_storage().clone()  # type: ignore[no-untyped-call]
    moved: dict[int, torch.Tensor] = {}
    for tensor in group:
        elem = torch.empty(0, dtype=tensor.dtype)
        elem.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())
        grows = tensor.requires_grad and tensor.is_leaf
        placed_one = DeviceTensor.over(elem, simulator, requires_grad=grows)
        moved[id(tensor)] = with_class(placed_one, type(tensor))
    return moved
