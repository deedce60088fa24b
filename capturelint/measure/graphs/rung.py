"""One captured size of one callable: fill its static buffers, replay, read out the real rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

import torch
from torch import Tensor

from capturelint.debug.attempts.compare import EXACT, difference
from capturelint.debug.trees.copies import with_others, with_same_tensors
from capturelint.debug.trees.descriptions import described
from capturelint.debug.trees.memory import is_overlapping, may_share
from capturelint.debug.trees.trees import leaves
from capturelint.measure.graphs.layout import Slot
from capturelint.measure.graphs.mistakes import RunnerError
from capturelint.measure.graphs.outputs import Shared
from capturelint.measure.graphs.same import is_same


class Pad(Enum):
    """What pad rows hold: zeros, the last real row again, or what was there before."""

    ZERO = "zero"
    REPEAT = "repeat-last"
    KEEP = "keep"


class Graphed(Protocol):
    """What was captured: one graph, or pieces with eager gaps. `output`: of the last replay."""

    output: object

    def replay(self) -> None: ...

    def close(self) -> None: ...


@dataclass(slots=True)
class Buffers:
    """The static inputs of one size. `values`: the leaves of the arguments, tensors as buffers.

    `args`, `kwargs`: the arguments around them. `shared`: objects in them that stay as they are.
    `twins`: leaves that are one tensor. `written`: those that calls write.
    """

    size: int
    slots: tuple[Slot, ...]
    values: list[object]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    shared: Shared
    twins: tuple[tuple[int, int], ...] = ()
    written: frozenset[int] = frozenset()
    _used: dict[int, int] = field(default_factory=dict)

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments in structures made anew, which a call may change."""
        return with_same_tensors((self.args, self.kwargs), shared=self.shared.objects)

    def fill(self, values: Sequence[object], rows: int, pad: Pad) -> None:
        """Copy arguments in, and pad. They have the shapes that the slots say, and `rows` rows."""
        for first, second in self.twins:
            if values[first] is not values[second]:
                names = f"`{self.slots[first].name}` and `{self.slots[second].name}`"
                raise RunnerError(f"{names} were one tensor when they were captured, and are two")
        if self.written:
            self.check_apart(values)
        is_whole = rows == self.size
        if is_whole:
            self._used.clear()
        for index, slot in enumerate(self.slots):
            value, buffer = values[index], self.values[index]
            if value is buffer:
                continue
            if slot.shape is None:
                if not is_same(buffer, value):
                    raise _varies(slot, buffer, value)
            elif slot.is_held:
                raise RunnerError(f"`{slot.name}` is another tensor than the one that was captured")
            elif is_whole or slot.dim is None:
                buffer.copy_(value)  # type: ignore[attr-defined] # the slot says that it is a tensor
            else:
                self._fill_part(index, slot, value, rows, pad)

    def _fill_part(self, index: int, slot: Slot, value: Any, rows: int, pad: Pad) -> None:
        buffer: Any = self.values[index]
        dim, real = slot.dim, rows * slot.unit
        buffer.narrow(dim, 0, real).copy_(value)
        extent = self.size * slot.unit
        if pad is Pad.REPEAT:
            last = value.narrow(dim, real - slot.unit, slot.unit)
            step = extent - real if slot.unit == 1 else slot.unit  # one element is broadcast
            for start in range(real, extent, step):
                buffer.narrow(dim, start, step).copy_(last)
        elif pad is Pad.ZERO:
            # What was zero before still is, unless the graph itself writes it.
            end = extent if index in self.written else self._used.get(index, extent)
            if end > real:
                buffer.narrow(dim, real, end - real).zero_()
            self._used[index] = real

    def copy_back(self, values: Sequence[Any], rows: int) -> None:
        """Copy into the caller's tensors what the graph wrote into its arguments."""
        for index in self.written:
            slot, buffer = self.slots[index], self.values[index]
            assert isinstance(buffer, Tensor)
            if slot.dim is not None and rows != self.size:
                buffer = buffer.narrow(slot.dim, 0, rows * slot.unit)
            if values[index] is not self.values[index]:
                values[index].copy_(buffer)

    def note_written(self, call: Callable[[], object]) -> object:
        """Return what `call`, made on these buffers, returns; remember which of them it writes."""
        own = {i: v for i, v in enumerate(self.values) if isinstance(v, Tensor)}
        own = {i: v for i, v in own.items() if not self.slots[i].is_held}
        before = {index: value.detach().clone() for index, value in own.items()}
        versions = {index: value._version for index, value in own.items()}  # noqa: SLF001 - no other way
        result = call()
        self.written = frozenset(
            index
            for index, value in own.items()
            # A write of what was there has a version; one by a kernel of its own has a difference.
            if value._version != versions[index]  # noqa: SLF001 - as above
            or difference(before[index], value.detach(), EXACT) is not None
        )
        return result

    def check_apart(self, values: Sequence[Any]) -> None:
        """Raise `RunnerError` if a tensor that calls write lies in the memory of another one.

        Each has a buffer of its own, where the code would not see what it writes into the other.
        """
        for index in self.written:
            for other, value in enumerate(values):
                if self.values[other] is self.values[index] or not isinstance(value, Tensor):
                    continue
                if may_share(values[index], value):
                    names = f"`{self.slots[index].name}`, and `{self.slots[other].name}`"
                    raise RunnerError(
                        f"calls write {names} shares its memory; pass tensors that lie apart"
                    )


@dataclass(slots=True)
class Rung:
    """A captured size."""

    buffers: Buffers
    graph: Graphed


def buffers_of(
    size: int,
    slots: tuple[Slot, ...],
    arguments: tuple[tuple[Any, ...], dict[str, Any]],
    shared: tuple[object, ...],
) -> Buffers:
    """Return static buffers that hold what the example `arguments` hold."""
    args, kwargs = arguments
    tree = [*args, *kwargs.values()]
    values = [leaf.value for value in tree for leaf in leaves(value)]
    made: dict[int, object] = {id(one): one for one in shared}
    for slot, value in zip(slots, values, strict=True):
        if isinstance(value, Tensor) and not slot.is_held and id(value) not in made:
            made[id(value)] = _buffer(value)
    own = [made.get(id(value), value) for value in values]
    args, kwargs = with_others((args, kwargs), made)
    return Buffers(size, slots, own, args, kwargs, Shared(shared), _twins(own))


def _twins(values: Sequence[object]) -> tuple[tuple[int, int], ...]:
    first: dict[int, int] = {}
    pairs = []
    for index, value in enumerate(values):
        if isinstance(value, Tensor) and first.setdefault(id(value), index) != index:
            pairs.append((first[id(value)], index))
    return tuple(pairs)


def _buffer(value: Tensor) -> Tensor:
    # Not an inference tensor: such can be written in inference mode only.
    with torch.inference_mode(mode=False), torch.no_grad():
        source = value.detach()
        made = source.contiguous().clone() if is_overlapping(source) else source.clone()
        return made.requires_grad_(value.requires_grad)


def _varies(slot: Slot, captured: object, value: object) -> RunnerError:
    told, was = described(value), described(captured)
    is_ = f"another {told}" if told == was else f"{told}, and was {was}"
    return RunnerError(
        f"`{slot.name}` is {is_}{' than' if told == was else ''} when it was captured; a graph keeps"
        " the first: pass a tensor on the device"
    )
