"""Pinned memory: who is pinned, what replays read of it, and that it is not kept alive."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import pytest
import torch

from capturelint.debug.simulated.pinned import PinnedMemory

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


def test_a_storage_is_pinned_for_all_its_views() -> None:
    pinned = PinnedMemory()
    tensor = pinned.add(torch.ones(4, 4))

    assert pinned.holds(tensor[1:].t())
    assert not pinned.holds(tensor.clone())


def test_pinning_copies_only_what_is_not_pinned() -> None:
    pinned, plain = PinnedMemory(), torch.ones(3)
    copy = pinned.pinned(plain)

    assert not pinned.holds(plain)
    assert pinned.holds(copy)
    assert torch.equal(copy, plain)
    assert pinned.pinned(copy) is copy


def test_memory_is_not_kept_alive_and_its_address_is_not_taken_for_it() -> None:
    pinned = PinnedMemory()
    tensor = pinned.add(torch.ones(1000))
    gone = weakref.ref(tensor)
    del tensor

    assert gone() is None
    assert not any(pinned.holds(torch.ones(1000)) for _ in range(20))


def test_tensors_without_host_memory_are_not_pinned() -> None:
    pinned = PinnedMemory()
    pinned.add(torch.ones(1))

    assert not pinned.holds(torch.ones(3, device="meta"))
    assert not pinned.holds(torch.eye(3).to_sparse())


@pytest.mark.parametrize(
    "made",
    [
        "torch.ones(3).pin_memory()",
        "torch.empty(3, pin_memory=True)",
        "torch.zeros(3, pin_memory=True)[1:]",
        "torch.tensor([1.0], pin_memory=True)",
        'torch.ones(3, device="cuda").to("cpu", non_blocking=True)',
    ],
)
def test_what_user_code_pins_is_pinned(in_session: InSession, made: str) -> None:
    def body(_backend: SimulatedBackend) -> None:
        assert eval(made).is_pinned()
        assert not torch.ones(3).is_pinned()
        assert not torch.ones(3, device="cuda").is_pinned()

    in_session(body)


def test_replays_read_pinned_memory_again(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        host = torch.ones(3).pin_memory()
        graph: Any = backend.capture(lambda: host.to("cuda", non_blocking=True) + 1)
        host.fill_(5)
        graph.replay()

        assert graph.output.tolist() == [6.0, 6.0, 6.0]

    in_session(body)


def test_replays_write_pinned_memory(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        x, host = torch.ones(3, device="cuda"), torch.zeros(3).pin_memory()
        graph = backend.capture(lambda: host.copy_(x * 2, non_blocking=True))

        assert host.tolist() == [0.0, 0.0, 0.0]
        graph.replay()
        assert host.tolist() == [2.0, 2.0, 2.0]

    in_session(body)
