"""What one eager call runs on the device, written down so that two calls can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from capturelint.debug.dispatched.arguments import Device, is_on_device
from capturelint.debug.dispatched.rooms import Rooms
from capturelint.debug.dispatched.schema import Schema
from capturelint.debug.dispatched.tensors import is_work, made_of, storage_of, tensors_of
from capturelint.debug.frames import users_frames
from capturelint.verdict import Place

_PINNED_SHOWN = 16


@dataclass(frozen=True, slots=True)
class Memory:
    """Which memory an argument uses: `made` in the call by its number, or `older` by its storage."""

    origin: str
    number: int
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype


@dataclass(frozen=True, slots=True)
class HostValue:
    """The content of a host tensor that the device was given. `pinned`: its storage, if it is."""

    numbers: tuple[Any, ...]
    shape: tuple[int, ...]
    dtype: torch.dtype
    pinned: int | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Launch:
    """One operation. `arguments`: flat; numbers, memory, host values. `place`: where it was used."""

    operation: str
    arguments: tuple[Any, ...]
    shapes: tuple[tuple[int, ...], ...]
    place: Place


class Launches:
    """The operations of one call in order. `rooms`: memory that it made without content.

    Older storages are kept alive, so that a storage of the next call cannot take their address.
    """

    def __init__(self, device: Device) -> None:
        self.items: list[Launch] = []
        self._device = device
        self._made: dict[int, int] = {}
        self._count = 0
        self._older: dict[int, torch.Tensor] = {}
        self.rooms = Rooms()

    def add(
        self,
        schema: Schema,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        given: Iterable[torch.Tensor],
        result: Any,
    ) -> None:
        """Write down an operation that has run, unless it only made a view or room.

        `given`: the plain tensors among its arguments.
        """
        made = made_of(schema, given, result)
        if is_work(schema, result, made):
            arguments = (*args, *kwargs.items())
            shapes = tuple(tuple(tensor.shape) for tensor in tensors_of(result))
            flat = tuple(item for value in arguments for item in self._written_down(value))
            place = next(iter(users_frames(limit=1)), Place("", 0))
            self.items.append(Launch(schema.label, flat, shapes, place))
            self.rooms.use(schema, args, kwargs, place)
        for _, tensor in made if schema.allocates else ():
            self.rooms.add(tensor, next(iter(users_frames(limit=1)), Place("", 0)))
        for _, tensor in made:
            # A count, for a storage may take the place of one that is gone.
            self._made[storage_of(tensor)] = self._count
            self._count += 1

    def add_kernel(self, operation: str, arguments: Iterable[Any]) -> None:
        """Write down a kernel that was launched past the dispatcher."""
        flat = tuple(item for value in arguments for item in self._written_down(value))
        place = next(iter(users_frames(limit=1)), Place("", 0))
        self.items.append(Launch(operation, flat, (), place))

    def _written_down(self, value: Any) -> list[Any]:
        if isinstance(value, torch.Tensor):
            return [self._memory(value) if is_on_device(value) else self._host_value(value)]
        if isinstance(value, (list, tuple)):
            return [item for part in value for item in self._written_down(part)]
        if isinstance(value, torch.Generator):
            return ["generator"]
        return [value]

    def _memory(self, tensor: torch.Tensor) -> Memory:
        key = storage_of(tensor)
        if tensor.layout is not torch.strided:
            return Memory("sparse", 0, 0, tuple(tensor.shape), (), tensor.dtype)
        number = self._made.get(key)
        if number is None:
            self._older[key] = tensor
        return Memory(
            "older" if number is None else "made",
            key if number is None else number,
            int(tensor.storage_offset()),
            tuple(tensor.shape),
            tuple(tensor.stride()),
            tensor.dtype,
        )

    def _host_value(self, tensor: torch.Tensor) -> HostValue:
        is_pinned = tensor.device.type == "cpu" and self._device.is_pinned(tensor)
        readable = tensor.device.type == "cpu" and (tensor.numel() == 1 or is_pinned)
        numbers = tensor.detach().flatten()[:_PINNED_SHOWN].tolist() if readable else ()
        key = storage_of(tensor) if is_pinned else None
        if key is not None:
            self._older[key] = tensor
        return HostValue(tuple(numbers), tuple(tensor.shape), tensor.dtype, key)
