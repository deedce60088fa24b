"""Trees of tensors on their way to the device: what shares memory before shares it afterwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

from capturelint.debug.dispatched.tensors import storage_of
from capturelint.debug.trees.copies import with_others
from capturelint.debug.trees.trees import leaves

_Tree = TypeVar("_Tree")
# From tensors of one storage to those on the device, by the id of the tensor each stands for.
Together = Callable[[Sequence[torch.Tensor]], dict[int, torch.Tensor]]


def placed(tree: _Tree, together: Together) -> _Tree:
    """Return a copy of `tree` with its host tensors on the device; objects and containers anew.

    Modules are moved where they are, with their parameters. `together`: moves several tensors that
    share memory.
    """
    values = [leaf.value for leaf in leaves(tree)]
    for value in values:
        if isinstance(value, torch.nn.Module):
            value.cuda()
    tensors = {
        id(value): value
        for value in values
        if isinstance(value, torch.Tensor) and not value.is_cuda
    }
    return with_others(tree, _moved(list(tensors.values()), together))


def _moved(tensors: list[torch.Tensor], together: Together) -> dict[int, torch.Tensor]:
    sharing: defaultdict[int, list[torch.Tensor]] = defaultdict(list)
    for tensor in tensors:
        sharing[storage_of(tensor)].append(tensor)
    moved: dict[int, torch.Tensor] = {}
    for group in sharing.values():
        if len(group) == 1:
            moved[id(group[0])] = _alone(group[0])
        else:
            moved.update(together(group))
    return moved


def _alone(tensor: torch.Tensor) -> torch.Tensor:
    if not tensor.is_leaf:
        return tensor.cuda()
    return tensor.detach().cuda().requires_grad_(tensor.requires_grad)
