"""Reads of memory that nobody owns: how they show, and what is left as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from capturelint.debug.simulated.tape import Tape
from capturelint.debug.trees.scratch import Scratch

if TYPE_CHECKING:
    from collections.abc import Callable

    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


def sizes(backend: SimulatedBackend, call: Callable[[], Any]) -> tuple[list[int], Any]:
    """Return the bytes of each storage that nobody owns after `call` is captured."""
    with torch.no_grad():
        call()
        graph = backend.capture(call)
    memory = graph.unowned()
    storages = [] if memory is None else memory._storages  # noqa: SLF001 - what is looked at
    return sorted(storage.nbytes() for storage in storages), graph


def test_what_a_replay_writes_as_a_whole_or_somebody_holds_is_left_alone(
    in_session: InSession,
) -> None:
    def body(backend: SimulatedBackend) -> None:
        x, linear = torch.ones(2, 4, device="cuda"), nn.Linear(4, 4).cuda()
        buffer = torch.zeros(2, 4, device="cuda")

        def call() -> Tensor:
            buffer.copy_(x)
            buffer[0] = torch.tensor(2.0)  # a number of the host, which the graph keeps
            return (linear(x) + buffer).relu() * torch.zeros(4, device="cuda")

        assert sizes(backend, call)[0] == []

    in_session(body)


def test_rooms_and_what_was_let_go_are_found(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        x = torch.ones(2, 4, device="cuda")
        held = {"scale": torch.ones(1, device="cuda")}

        def call() -> Tensor:
            room = torch.empty(2, 4, device="cuda")
            room[:1] = x[:1]
            pinned = torch.tensor([1.0, 2.0]).pin_memory().to("cuda", non_blocking=True)
            return (room.sum() + pinned.sum()) * held["scale"]

        found, graph = sizes(backend, call)
        held.clear()
        later = graph.unowned()

        assert found == [8, 32]
        assert later is not None
        assert sorted(one.nbytes() for one in later._storages) == [4, 8, 32]  # noqa: SLF001

    in_session(body)


def test_a_room_that_is_returned_is_the_callers(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        def call() -> Tensor:
            room = torch.empty(4, device="cuda")
            room[:2] = 1
            return room

        assert sizes(backend, call)[0] == []

    in_session(body)


def test_scratch_is_put_back() -> None:
    x = torch.arange(4.0)
    scratch = Scratch([x])
    scratch.fill(0xFF)

    assert bool(x.isnan().all())
    scratch.restore()
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_an_empty_tape_has_nothing_of_it() -> None:
    assert Tape(None).unowned() is None  # type: ignore[arg-type]  # nothing is recorded
