"""Whether replays of a function are what eager calls return, on fresh inputs each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from capturelint.debug.simulated import SimulatedBackend

Inputs = Callable[[int], tuple[torch.Tensor, ...]]


def normal(*shape: int) -> Inputs:
    """Return what makes one tensor of normal numbers on the device, from a seed."""

    def inputs(seed: int) -> tuple[torch.Tensor, ...]:
        numbers = torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
        return (numbers.cuda(),)

    return inputs


def host(tree: Any) -> list[torch.Tensor]:
    """Return copies on the host of all tensors of a tree."""
    tensors = [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
    return [tensor.detach().cpu().clone() for tensor in tensors]


def check_replays(
    backend: SimulatedBackend, function: Callable[..., object], inputs: Inputs, *, replays: int = 3
) -> None:
    """Capture `function` once; after each replay compare with an eager call on equal inputs."""
    function(*inputs(9))
    static = inputs(0)
    graph = backend.capture(lambda: function(*static))
    for seed in range(1, replays + 1):
        for old, fresh in zip(static, inputs(seed), strict=True):
            old.copy_(fresh)
        backend.seed(seed)
        graph.replay()
        got = host(graph.output)
        backend.seed(seed)
        wanted = host(function(*inputs(seed)))
        assert got, "no output to compare"
        assert [torch.equal(a, b) for a, b in zip(got, wanted, strict=True)] == [True] * len(got)
