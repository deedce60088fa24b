"""What a report says of a case beside its verdict: what was not judged, and what was copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn

from capturelint.debug.backward import NO_BACKWARD
from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.engine import judge
from capturelint.debug.settings import Settings

if TYPE_CHECKING:
    from capturelint.debug.backend import Backend
    from tests.unit.debug.conftest import InSession

WIDTH = 4


def inputs(seed: int) -> torch.Tensor:
    return torch.randn(2, WIDTH, generator=torch.Generator().manual_seed(seed))


class Cache:
    def __init__(self) -> None:
        self.last: torch.Tensor | None = None
        self.filled = torch.zeros(2, WIDTH)


class Keeps(nn.Module):
    def forward(self, x: torch.Tensor, cache: Cache) -> torch.Tensor:
        cache.last = x * 2
        return x + 1


class Fills(nn.Module):
    def forward(self, x: torch.Tensor, cache: Cache) -> torch.Tensor:
        return x + cache.filled.copy_(x)


def notes(backend: Backend, make: Callable[[], Case]) -> tuple[str, ...]:
    return judge(make, backend, Settings(replays=2), known={}, emit=lambda event: None).notes


def about_copies(told: tuple[str, ...]) -> list[str]:
    return [note.partition(", of which")[0] for note in told if "has a copy of its own" in note]


def test_an_object_of_each_step_that_a_call_changes_is_told(in_session: InSession) -> None:
    def make() -> Case:
        return Case(Keeps(), lambda seed: (inputs(seed), Cache()))

    def look(backend: Backend) -> None:
        assert about_copies(notes(backend, make)) == [
            "each call changes what the argument `cache` holds"
        ]

    in_session(look)


def test_tensors_written_in_place_and_state_are_no_copies_to_tell(in_session: InSession) -> None:
    cache = Cache()

    def written() -> Case:
        return Case(Fills(), lambda seed: (inputs(seed), Cache()))

    def shared() -> Case:
        return Case(Keeps(), lambda seed: (inputs(seed), cache))

    def look(backend: Backend) -> None:
        assert about_copies(notes(backend, written)) == []
        assert about_copies(notes(backend, shared)) == []

    in_session(look)


class Moves(nn.Module):
    position: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("position", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.position


def preparing(does: Callable[[Moves, int], object]) -> Callable[[], Case]:
    def make() -> Case:
        model = Moves().cuda()
        return Case(model, inputs, prepare=lambda step: does(model, step))

    return make


def about_prepare(told: tuple[str, ...]) -> list[str]:
    return [note.partition(":")[0] for note in told if note.startswith("prepare(")]


def test_a_prepare_that_goes_on_by_itself_is_told(in_session: InSession) -> None:
    numbers = iter(range(10_000))

    def look(backend: Backend) -> None:
        make = preparing(lambda model, step: model.position.fill_(next(numbers)))
        assert about_prepare(notes(backend, make)) == [
            "prepare(1), called twice from the same state, leaves other values in memory on the device"
        ]

    in_session(look)


def test_a_prepare_by_number_from_state_or_at_random_is_not(in_session: InSession) -> None:
    def binds(model: Moves, step: int) -> None:
        model.position = torch.full((1,), float(step), device="cuda")

    def look(backend: Backend) -> None:
        for does in (
            lambda model, step: model.position.fill_(step),
            lambda model, step: model.position.add_(1),
            lambda model, step: model.position.random_(0, 100),
            binds,
        ):
            assert about_prepare(notes(backend, preparing(does))) == []

    in_session(look)


def test_a_prepare_that_raises_when_called_again_is_one_line(in_session: InSession) -> None:
    def look(backend: Backend) -> None:
        numbers = iter(range(3))
        make = preparing(lambda model, step: model.position.fill_(next(numbers)))
        with pytest.raises(
            CaseError, match=r"^prepare\(1\), called again, raised StopIteration at "
        ):
            notes(backend, make)

    in_session(look)


def test_gradients_without_a_backward_are_told(in_session: InSession) -> None:
    def make() -> Case:
        return Case(nn.Linear(WIDTH, WIDTH), inputs, mode="train")

    def look(backend: Backend) -> None:
        assert NO_BACKWARD in notes(backend, make)

    in_session(look)


def test_a_step_that_runs_a_backward_or_wants_none_is_not_told(in_session: InSession) -> None:
    def steps() -> Case:
        linear = nn.Linear(WIDTH, WIDTH)

        def step(x: torch.Tensor) -> torch.Tensor:
            linear.zero_grad(set_to_none=False)
            loss: torch.Tensor = linear(x).sum()
            loss.backward()  # type: ignore[no-untyped-call] # torch gives it no types
            return loss

        return Case(step, inputs, mode="train")

    def without_parameters() -> Case:
        return Case(nn.ReLU(), inputs, mode="train")

    def evaluated() -> Case:
        return Case(nn.Linear(WIDTH, WIDTH), inputs)

    def look(backend: Backend) -> None:
        assert NO_BACKWARD not in notes(backend, steps)
        assert NO_BACKWARD not in notes(backend, without_parameters)
        assert NO_BACKWARD not in notes(backend, evaluated)

    in_session(look)
