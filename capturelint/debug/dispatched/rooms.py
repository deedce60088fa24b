"""Memory that an operation made without content, and who uses it before it has any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from capturelint.debug.dispatched.schema import Schema
from capturelint.debug.dispatched.tensors import storage_of, tensors_in
from capturelint.verdict import Place


@dataclass(slots=True)
class Rooms:
    """Rooms made by `torch.empty` and its like, by the storage of each until it is first used.

    `made`: where they were made, in order. `read`: where the first use was no write.
    """

    made: list[Place] = field(default_factory=list)
    read: list[Place] = field(default_factory=list)
    _open: dict[int, torch.Tensor] = field(default_factory=dict)

    def add(self, tensor: torch.Tensor, place: Place) -> None:
        """Note a room. It is kept alive until it is used, so that none takes its place."""
        self.made.append(place)
        self._open[storage_of(tensor)] = tensor

    def use(
        self, schema: Schema, args: Sequence[Any], kwargs: Mapping[str, Any], place: Place
    ) -> None:
        """Note an operation that has run."""
        if not self._open:
            return
        written = set(self._keys(_written(schema, args, kwargs)))
        for key in self._keys((*args, *kwargs.values())):
            if self._open.pop(key, None) is not None and key not in written:
                self.read.append(place)

    def _keys(self, values: Iterable[Any]) -> Iterable[int]:
        return [storage_of(tensor) for tensor in tensors_in(list(values))]


def _written(schema: Schema, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """Return what the operator writes of its arguments. Adding to it reads it as well."""
    if schema.short.rstrip("_") not in _ONLY_WRITES and not schema.short.endswith("out"):
        return [
            kwargs[name] for position, name in schema.writes if position is None and name in kwargs
        ]
    return [
        args[position] if position is not None and position < len(args) else kwargs.get(name)
        for position, name in schema.writes
    ]


# Written in place without a look at what was there; an index tells only which part.
_ONLY_WRITES = frozenset(
    "copy fill zero set index_put _index_put_impl index_copy index_fill scatter masked_fill "
    "masked_scatter uniform normal random bernoulli exponential _foreach_copy _foreach_zero "
    "resize_as".split()
)
