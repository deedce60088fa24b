"""One call of an operator with its tensors sorted by side and unwrapped for a host kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from capturelint.debug.dispatched.schema import Schema
from capturelint.debug.dispatched.tensors import tensors_in
from capturelint.debug.simulated.device import HOST, is_simulated
from capturelint.debug.simulated.tensor import DeviceTensor

# Values that are the same on both sides, by far the most; a dtype is one.
_LEAVES = frozenset((int, float, bool, str, type(None), torch.dtype))


class Call:
    """A call on its way to the host's kernel.

    `given`, `given_named`: the arguments as they came. `args`, `kwargs`: the same with plain
    tensors in place of device tensors and the host in place of the device. `devices`, `hosts`: the
    device tensors and the plain ones among them. `is_on_device`: the results belong on the device.
    `is_work`: the device has something to do.
    """

    __slots__ = (
        "_names_device",
        "args",
        "devices",
        "given",
        "given_named",
        "hosts",
        "is_on_device",
        "is_work",
        "kwargs",
        "schema",
    )

    def __init__(self, schema: Schema, given: tuple[Any, ...], given_named: dict[str, Any]) -> None:
        self.schema = schema
        self.given = given
        self.given_named = given_named
        self.devices: list[DeviceTensor] = []
        self.hosts: list[torch.Tensor] = []
        self._names_device = False
        plain = self._plain
        self.args = [value if type(value) in _LEAVES else plain(value) for value in given]
        self.kwargs = {
            name: value if type(value) in _LEAVES else plain(value)
            for name, value in given_named.items()
        }
        target = given_named.get("device")
        self.is_on_device = bool(self.devices) if target is None else is_simulated(target)
        self.is_work = self.is_on_device or self._names_device or bool(self.devices)

    def _plain(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if isinstance(value, DeviceTensor):
                self.devices.append(value)
                return value.elem
            self.hosts.append(value)
            return value
        kind = type(value)
        if kind is list or kind is tuple:
            return kind([item if type(item) in _LEAVES else self._plain(item) for item in value])
        if kind is torch.device and is_simulated(value):
            self._names_device = True
            return HOST
        return value

    def unwrap(self) -> None:
        """Unwrap the positional arguments again, after the plain tensors were exchanged."""
        self.args = [
            value.elem if isinstance(value, DeviceTensor) else value for value in self.given
        ]

    def plain(self) -> list[torch.Tensor]:
        """Return the tensors among the arguments, those on the device unwrapped."""
        return [*(tensor.elem for tensor in self.devices), *self.hosts]

    def target(self) -> Any:
        """Return what was given as `device=`, or None."""
        return self.given_named.get("device")

    def written(self) -> Iterator[torch.Tensor]:
        """Yield the tensors that the operator writes, as they were given."""
        for position, name in self.schema.writes:
            if position is not None and position < len(self.given):
                yield from tensors_in(self.given[position])
            elif name in self.given_named:
                yield from tensors_in(self.given_named[name])

    def written_unsaid(self) -> Iterator[torch.Tensor]:
        """Yield the tensors that the kernel writes although the schema does not say so."""
        for position in self.schema.writes_unsaid:
            if position < len(self.given):
                yield from tensors_in(self.given[position])
