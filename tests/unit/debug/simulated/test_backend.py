"""The simulated device as a backend: its sessions, placing, seeds, hazards and what it leaves."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from capturelint.debug.backend import Backend, BackendError
from capturelint.debug.simulated import SimulatedBackend
from capturelint.finding import Effect
from tests.unit.debug.simulated.replaying import host

if TYPE_CHECKING:
    from tests.conftest import InFork
    from tests.unit.debug.conftest import InSession


@dataclass
class _Inputs:
    first: torch.Tensor
    rest: dict[str, list[torch.Tensor]]


def test_it_is_a_backend() -> None:
    backend: Backend = SimulatedBackend()
    assert backend.name == "simulated"


def test_outside_a_session_it_says_so() -> None:
    with pytest.raises(BackendError, match="outside its session"):
        SimulatedBackend().notes()


def test_sessions_follow_each_other(in_fork: InFork) -> None:
    def body() -> None:
        backend = SimulatedBackend()
        for _ in range(2):
            with backend.session():
                assert backend.place(nn.Linear(2, 2))(torch.ones(1, 2).cuda()).is_cuda

    in_fork(body)


def test_a_session_inside_another_is_refused(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        with pytest.raises(BackendError, match="already open"), SimulatedBackend().session():
            pass

    in_session(body)


def test_an_error_ends_a_session_and_leaves_torch_as_it_was(in_fork: InFork) -> None:
    def body() -> None:
        before = _patched_names()
        backend = SimulatedBackend()
        with pytest.raises(ValueError, match="of the user"), backend.session():
            raise ValueError("of the user")
        assert _patched_names() == before
        assert torch.tensor([1]).device.type == "cpu"
        with pytest.raises(BackendError):
            backend.notes()

    in_fork(body)


def _patched_names() -> tuple[object, ...]:
    return (torch.cuda.is_available, torch.Tensor.to, torch.compile, nn.Module.to, nn.Module.cuda)


def test_placing_keeps_objects_ties_and_gradients(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        whole = torch.arange(4.0)
        inputs = _Inputs(whole, {"rows": [whole[2:], torch.ones(2, requires_grad=True)]})
        placed = backend.place(([inputs], 3))
        ((there,), number) = placed
        row, leaf = there.rest["rows"]
        assert (type(there), number) == (_Inputs, 3)
        assert [tensor.is_cuda for tensor in (there.first, row, leaf)] == [True] * 3
        there.first.add_(1)
        assert host([row])[0].tolist() == [3, 4]
        assert whole.tolist() == [0, 1, 2, 3]
        assert (leaf.is_leaf, leaf.requires_grad) == (True, True)

    in_session(body)


def test_a_seed_fixes_the_numbers_of_all_generators(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        def numbers() -> list[float]:
            backend.seed(7)
            there = torch.rand(1, device="cuda").item()
            return [random.random(), torch.rand(1).item(), there]

        assert numbers() == numbers()

    in_session(body)


def test_hazards_are_listed_by_line_and_module_with_their_number(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        ones = torch.ones(3, device="cuda")
        modules = iter(["first", "first", "second", "root", "root"])

        def runs() -> torch.Tensor:
            for _ in range(3):
                ones.sum().item()
            side: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(torch.cuda.default_stream()):
                result = ones + 1
            with torch.cuda.stream(side):
                return result * 2

        line = runs.__code__.co_firstlineno
        with backend.as_if_capturing(lambda: next(modules)) as hazards:
            runs()
        facts = [
            (one.place.line - line, one.module, one.operation, one.effect, one.calls)
            for one in hazards
        ]
        read = "aten._local_scalar_dense.default"
        assert facts == [
            (2, "first", read, Effect.REFUSES, 2),
            (2, "second", read, Effect.REFUSES, 1),
            (6, "root", "aten.add.Tensor on the default stream", Effect.STALE, 1),
            (8, "root", "capture end", Effect.REFUSES, 1),
        ]

    in_session(body)


def test_as_if_capturing_runs_for_real(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        buffer = torch.zeros(1, device="cuda")
        with backend.as_if_capturing(lambda: ""):
            assert torch.cuda.is_current_stream_capturing()
            buffer.add_(1)
            assert buffer.item() == 1
        assert buffer.item() == 1
        assert not torch.cuda.is_current_stream_capturing()

    in_session(body)


def test_warm_up_runs_on_a_side_stream(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        with backend.warming_up():
            assert torch.cuda.current_stream() != torch.cuda.default_stream()
        assert torch.cuda.current_stream() == torch.cuda.default_stream()

    in_session(body)


def test_the_environment_says_that_there_is_no_device(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        environment = backend.environment()
        assert environment["backend"] == "simulated"
        assert environment["device"] == "none, simulated on the host"
        assert environment["torch"] == torch.__version__

    in_session(body)
