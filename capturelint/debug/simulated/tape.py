"""The work that a capture recorded, and its replay into the same memory."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from capturelint.debug.dispatched.tensors import is_work, made_of, storage_of, tensors_of
from capturelint.debug.simulated.call import Call
from capturelint.debug.simulated.kernels import Kernel
from capturelint.debug.simulated.snapshots import Snapshots
from capturelint.debug.simulated.unowned import unowned
from capturelint.debug.trees.scratch import Scratch

if TYPE_CHECKING:
    from capturelint.debug.simulated.pinned import PinnedMemory
    from capturelint.debug.simulated.randomness import DeviceRandom


@dataclass(frozen=True, slots=True)
class Node:
    """One operation. `results`: position and memory of each result that it makes anew.

    `offset`: of its random numbers, from the start of the graph, or None if it draws none.
    """

    kernel: Kernel
    args: list[Any]
    kwargs: dict[str, Any]
    results: tuple[tuple[int, torch.Tensor], ...]
    offset: int | None

    def run(self) -> None:
        """Compute the results again, into the same memory."""
        result = self.kernel(*self.args, **self.kwargs)
        if self.results:
            tensors = tensors_of(result)
            for position, memory in self.results:
                _refill(memory, tensors[position])


class Tape:
    """The nodes of one graph in order, with the memory that they use.

    A view is no node: its memory is fixed, so it stays true. Storages made inside the capture stay
    alive with the tape; older ones that it writes get their content back when it ends, since a
    capture executes nothing. `drawn`: how far one replay moves the random numbers on; `seed`: theirs
    when it was captured.
    """

    def __init__(self, pinned: PinnedMemory) -> None:
        self._pinned = pinned
        self._nodes: list[Node] = []
        self._made: dict[int, torch.Tensor] = {}
        self._baked_in: set[int] = set()
        self._older = Snapshots()
        self._is_closed = False
        self.drawn = 0
        self.seed = 0

    @property
    def is_empty(self) -> bool:
        """Return whether a replay does nothing."""
        return not self._nodes

    def expect_writes(self, call: Call) -> None:
        """Keep what `call` is about to overwrite of storages older than the capture."""
        if call.schema.writes:
            self._older.keep(call.written(), unless=self._made.keys())
        if call.schema.writes_unsaid:
            self._older.keep(call.written_unsaid(), unless=self._made.keys())

    def record(self, kernel: Kernel, call: Call, result: Any, offset: int | None) -> None:
        """Append a call that has run, unless it only made a view or room."""
        made = made_of(call.schema, call.plain(), result)
        for _, tensor in made:
            self._made[storage_of(tensor)] = tensor
        if is_work(call.schema, result, made):
            args, kwargs = self._baked(call) if call.hosts else (call.args, call.kwargs)
            self._nodes.append(Node(kernel, args, kwargs, made, offset))

    def _baked(self, call: Call) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments with host tensors fixed as they are now.

        Pinned memory is read again by each replay.
        """
        fixed = {id(host): host.clone() for host in call.hosts if not self._pinned.holds(host)}
        self._baked_in.update(storage_of(host) for host in fixed.values())
        args = [_exchanged(value, fixed) for value in call.args]
        return args, {name: _exchanged(value, fixed) for name, value in call.kwargs.items()}

    def end(self, *, drawn: int, seed: int) -> None:
        """Put back what older storages held before the capture."""
        self.drawn = drawn
        self.seed = seed
        self._older.restore()

    def replay(self, random: DeviceRandom) -> None:
        """Run every node again on what its inputs hold now."""
        if self._is_closed:
            raise RuntimeError("a graph cannot be replayed after it was closed")
        with on_plain_tensors():
            start = random.replaying(self.drawn, self.seed)
            for node in self._nodes:
                if node.offset is None:
                    node.run()
                else:
                    with random.drawing(start + node.offset):
                        node.run()

    def unowned(self) -> Scratch | None:
        """Return what it uses and nobody else holds, as far as it does not write all of it."""
        found = unowned(self._nodes, self._made, but=self._baked_in)
        return Scratch(found) if found else None

    def close(self) -> None:
        """Let go of the nodes and of their memory."""
        self._is_closed = True
        self._nodes.clear()
        self._made.clear()


@contextmanager
def on_plain_tensors() -> Iterator[None]:
    """Return a context in which operators run on plain tensors as they are, whatever is on."""
    with (
        # Not no_grad: also tensors made in inference mode are written.
        torch.inference_mode(),
        torch._C._DisableTorchDispatch(),
        torch._C.DisableTorchFunction(),
        torch._C._DisableAutocast(),
    ):
        yield


def _refill(memory: torch.Tensor, fresh: torch.Tensor) -> None:
    if memory._is_zerotensor():  # those of forward-mode derivatives have no memory
        return
    if memory.layout is torch.sparse_coo:
        # A copy of the whole would take new memory, which views of the parts do not see.
        memory._indices().copy_(fresh._indices())
        memory._values().copy_(fresh._values())
    else:
        memory.copy_(fresh)


def _exchanged(value: Any, fixed: dict[int, torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return fixed.get(id(value), value)
    if type(value) in (list, tuple):
        return type(value)([_exchanged(item, fixed) for item in value])
    return value
