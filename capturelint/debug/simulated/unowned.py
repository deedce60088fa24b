"""Memory that a tape uses and nobody else holds, and that the tape reads before it writes all of it."""

# ruff: noqa: SLF001 - how many hold a storage has no public name
from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import torch

from capturelint.debug.dispatched.tensors import storage_of, tensors_in

if TYPE_CHECKING:
    from capturelint.debug.simulated.tape import Node


def unowned(
    nodes: Iterable[Node], made: Mapping[int, torch.Tensor], *, but: Collection[int]
) -> list[torch.Tensor]:
    """Return a tensor for each storage that is free, and not written as a whole by the nodes.

    `made`: what was made in the capture, by storage. `but`: storages of numbers that a graph keeps
    by itself.
    """
    held: dict[int, dict[int, torch.Tensor]] = defaultdict(dict)
    computed: set[int] = set()
    for node in nodes:
        computed.update(_key(memory) for _, memory in node.results)
        for tensor in (*_used(node), *(memory for _, memory in node.results)):
            held[_key(tensor)][id(tensor)] = tensor
    for key, tensor in made.items():
        if key in held:
            held[key][id(tensor)] = tensor
    return [
        next(iter(tensors.values()))
        for key, tensors in held.items()
        if key not in computed and key not in but and _is_free(tensors)
    ]


def _is_free(tensors: Mapping[int, torch.Tensor]) -> bool:
    """Return whether nobody else holds the storage of these, which are all that the tape holds."""
    first = next(iter(tensors.values()))
    if first.layout is not torch.strided or first.is_nested:
        return False
    storage = first.untyped_storage()
    holders: int = torch._C._storage_Use_Count(storage._cdata)
    return holders <= len(tensors) + 1  # and the object that was just asked for


def _used(node: Node) -> Iterator[torch.Tensor]:
    values: list[Any] = [*node.args, *node.kwargs.values()]
    return tensors_in(values)


def _key(tensor: torch.Tensor) -> int:
    return storage_of(tensor)
