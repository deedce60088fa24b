"""Random numbers of the device: seeds, states, generators, and what replays draw."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import torch

from capturelint.debug.dispatched.refusal import NEW_SEED, SimulatedCaptureError

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession

Numbers = list[list[float]]


def draw(amount: int = 2, **options: Any) -> torch.Tensor:
    return torch.rand(amount, device="cuda", **options)


def eagerly_and_replayed(
    backend: SimulatedBackend, call: Callable[[], torch.Tensor]
) -> tuple[Numbers, Numbers]:
    """Return what three calls draw from one seed, and what three replays do."""
    torch.cuda.manual_seed(5)
    eager = [call().tolist() for _ in range(3)]
    torch.cuda.manual_seed(5)
    graph: Any = backend.capture(call)
    replayed = []
    for _ in range(3):
        graph.replay()
        replayed.append(graph.output.tolist())
    return eager, replayed


def refusal(backend: SimulatedBackend, call: Callable[[], object]) -> str:
    try:
        backend.capture(call)
    except SimulatedCaptureError as error:
        return str(error)
    return ""


def test_replays_go_on_as_eager_calls_do(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        eager, replayed = eagerly_and_replayed(backend, lambda: torch.cat([draw(), draw()]))

        assert replayed == eager
        assert len({tuple(numbers) for numbers in eager}) == 3

    in_session(body)


def test_after_replays_eager_calls_go_on(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        torch.cuda.manual_seed(5)
        expected = [draw().tolist() for _ in range(3)][-1]
        torch.cuda.manual_seed(5)
        graph = backend.capture(draw)
        graph.replay()
        graph.replay()

        assert draw().tolist() == expected

    in_session(body)


def test_a_state_that_is_put_back_is_drawn_from_again(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        def call() -> torch.Tensor:
            state = torch.cuda.get_rng_state()
            first = draw()
            torch.cuda.set_rng_state(state)
            return torch.cat([first, draw(), draw()])

        eager, replayed = eagerly_and_replayed(backend, call)

        assert replayed == eager
        assert eager[0][:2] == eager[0][2:4]

    in_session(body)


def test_numbers_of_a_graph_that_draws_none_in_all_stay_those_of_the_capture(
    in_session: InSession,
) -> None:
    def body(backend: SimulatedBackend) -> None:
        def call() -> torch.Tensor:
            with torch.random.fork_rng():
                return draw()

        eager, replayed = eagerly_and_replayed(backend, call)
        graph: Any = backend.capture(call)
        torch.cuda.manual_seed(6)
        graph.replay()

        assert replayed == eager
        assert graph.output.tolist() == eager[0]
        assert call().tolist() != eager[0]

    in_session(body)


def test_the_same_seed_inside_a_capture_does_nothing(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        def call() -> torch.Tensor:
            first = draw()
            torch.cuda.manual_seed(torch.cuda.initial_seed())
            return torch.cat([first, draw()])

        eager, replayed = eagerly_and_replayed(backend, call)

        assert eager[0][:2] == eager[0][2:]
        assert replayed[0][:2] != replayed[0][2:]

    in_session(body)


def test_another_seed_inside_a_capture_is_refused(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        torch.cuda.manual_seed(5)
        state = torch.cuda.get_rng_state()
        calls: list[Callable[[], object]] = [
            lambda: torch.cuda.manual_seed(6),
            lambda: torch.manual_seed(6),
            lambda: torch.cuda.manual_seed_all(6),
        ]

        assert [refusal(backend, call) for call in calls] == [NEW_SEED] * 3
        torch.cuda.manual_seed(7)
        assert refusal(backend, lambda: torch.cuda.set_rng_state(state)) == NEW_SEED

    in_session(body)


def test_a_refused_seed_leaves_the_capture_valid(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        torch.cuda.manual_seed(5)

        def call() -> None:
            with contextlib.suppress(SimulatedCaptureError):
                torch.cuda.manual_seed(6)

        assert refusal(backend, call) == ""
        assert torch.cuda.initial_seed() == 5

    in_session(body)


def test_seeds_and_states_of_host_and_device_are_apart(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        torch.manual_seed(3)
        host = torch.rand(2)
        torch.manual_seed(3)
        draw()

        assert torch.equal(torch.rand(2), host)
        assert torch.cuda.initial_seed() == 3

    in_session(body)


def test_drawing_on_the_device_leaves_the_hosts_generator_alone(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        before = torch.get_rng_state()
        torch.nn.functional.dropout(draw(100))

        assert torch.equal(torch.get_rng_state(), before)

    in_session(body)


def test_generators_draw_from_a_seed_of_their_own(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        own, twin = torch.Generator("cuda"), torch.Generator(device="cuda")
        own.manual_seed(3)
        twin.manual_seed(3)
        torch.cuda.manual_seed(3)
        first = draw(generator=own)
        state = own.get_state()
        second = draw(generator=own)
        own.set_state(state)

        assert own.device == torch.device("cuda", 0)
        assert torch.equal(draw(generator=twin), first)
        assert torch.equal(draw(generator=own), second)
        assert torch.equal(draw(generator=copy.deepcopy(twin)), second)
        assert not torch.equal(first, second)

    in_session(body)


def test_generators_are_instances_of_torchs(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        for made in (torch.Generator(), torch.Generator("cuda"), torch.default_generator):
            assert isinstance(made, torch.Generator)
        assert torch.Generator().device.type == "cpu"
        assert not isinstance(3, torch.Generator)

    in_session(body)


def test_a_capture_allows_little_with_a_generator(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        own: Any = torch.Generator("cuda")
        own.manual_seed(3)
        refused: list[Callable[[], object]] = [
            own.seed,
            own.get_offset,
            lambda: own.set_offset(4),
            own.clone_state,
            lambda: torch.Generator("cuda"),
            lambda: own.manual_seed(4),
        ]
        allowed: list[Callable[[], object]] = [
            own.initial_seed,
            own.get_state,
            lambda: own.manual_seed(3),
            lambda: own.set_state(own.get_state()),
            own.graphsafe_get_state,
        ]

        assert all(refusal(backend, call) for call in refused)
        assert [refusal(backend, call) for call in allowed] == [""] * len(allowed)

    in_session(body)


def test_a_generator_of_the_host_is_none_of_the_devices(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator"):
            draw(generator=torch.Generator())

    in_session(body)
