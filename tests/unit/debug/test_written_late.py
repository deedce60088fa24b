"""Tensors that no module registers, written in place in a late step first: each run starts without."""

from __future__ import annotations

import os
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

from capturelint.debug.cases.case import Case
from capturelint.debug.engine import judge
from capturelint.debug.settings import Settings
from capturelint.verdict import Report, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from capturelint.debug.backend import Backend
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession

B, D = 2, 4
LATE = 2  # the step that something is written in first


def inputs(seed: int) -> Tensor:
    return torch.randn(B, D, generator=torch.Generator().manual_seed(seed))


def zeros() -> Tensor:
    return torch.zeros(B, D, device="cuda")


class Adds(nn.Module):
    """Adds two tables, which lie in plain attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.other = zeros(), zeros()

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table + self.other


class Leaves(nn.Module):
    """Keeps what it returned, and adds a hint."""

    def __init__(self) -> None:
        super().__init__()
        self.hint, self.kept = zeros(), zeros()
        self.ring = [zeros(), zeros()]

    def forward(self, x: Tensor) -> Tensor:
        y = x * 2 + self.hint
        self.kept = y
        return y


def growing(module: Adds) -> Callable[[int], object]:
    def prepare(step: int) -> None:
        if step == LATE:
            module.table.add_(50.0)

    return prepare


def grows() -> Case:
    module = Adds()
    return Case(module, inputs, prepare=growing(module))


def binds_anew() -> Case:
    module = Adds()
    grow = growing(module)

    def prepare(step: int) -> None:
        grow(step)
        if step == LATE + 1:
            module.other = torch.ones(B, D, device="cuda")

    return Case(module, inputs, prepare=prepare)


def hands_back(module: Leaves) -> Callable[[int], object]:
    """Return what hints at the output before the last, by two tensors that take turns."""

    def prepare(step: int) -> None:
        module.ring[step % 2].copy_(module.kept)
        module.hint.copy_(module.ring[(step + 1) % 2])

    return prepare


def turns() -> Case:
    module = Leaves()
    return Case(module, inputs, prepare=hands_back(module))


def turns_and_keeps() -> Case:
    module = Leaves()
    hand_back = hands_back(module)
    old: list[Tensor] = []

    def prepare(step: int) -> None:
        hand_back(step)
        if old:
            module.hint.add_(old[-1])
        old.append(module.kept)

    return Case(module, inputs, prepare=prepare)


class Counts(Adds):
    """Writes in one late call, as a count on the host says."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        if self.calls == 7:
            self.table.add_(50.0)
        return super().forward(x)


def judged(backend: Backend, load: Callable[[], Case], **chosen: Any) -> Report:
    settings = Settings(**{"replays": 4, **chosen})
    return judge(load, backend, settings, known={}, emit=lambda _: None)


@pytest.mark.parametrize(
    ("load", "verdict"),
    [
        (grows, Verdict.EQUAL),
        (turns, Verdict.EQUAL),
        (binds_anew, Verdict.STALE),
        (turns_and_keeps, Verdict.OVERWRITTEN),
        (lambda: Case(Counts(), inputs), Verdict.STALE),
        (lambda: Case(Counts(), inputs, prepare=lambda _: None), Verdict.STALE),
    ],
)
def test_what_is_first_written_late_hides_nothing_and_is_no_fault(
    load: Callable[[], Case], verdict: Verdict, in_session: InSession
) -> None:
    def body(backend: Backend) -> None:
        assert judged(backend, load).verdict is verdict

    in_session(body)


def test_learning_what_is_prepared_costs_no_call_of_the_case(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, grows)

        # 2 warm-ups and a dry pass; 1 warm-up, a capture, 5 eager runs and 5 replays.
        assert report.timings["forwards"] == 3 + 2 + 10

    in_session(body)


def test_what_is_compiled_is_never_watched_where_only_what_is_prepared_may_write(
    in_session: InSession,
) -> None:
    def body(backend: SimulatedBackend) -> None:
        from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

        # A list would be put back with the rest of the state.
        watched: SimpleQueue[bool] = SimpleQueue()

        class Tells(Adds):
            def forward(self, x: Tensor) -> Tensor:
                modes = [type(one).__name__ for one in _get_current_dispatch_mode_stack()]
                watched.put("_WriteWatch" in modes)
                return super().forward(x)

        def load() -> Case:
            module = Tells()
            return Case(module, inputs, prepare=growing(module))

        backend.runs_compiled = lambda: True  # type: ignore[method-assign]  # as if it did
        report = judged(backend, load)

        assert report.verdict is Verdict.EQUAL
        # Two warm-ups of the case, one when it is judged, and step 0 of the first eager run.
        assert sum(watched.get() for _ in range(watched.qsize())) == 4

    in_session(body)


def test_a_late_write_is_learnt_in_a_soak_too(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        def load() -> Case:
            module = Adds()

            def prepare(step: int) -> None:
                if step == 12:
                    module.table.add_(50.0)
                if step == 14:
                    module.other = torch.ones(B, D, device="cuda")

            return Case(module, inputs, prepare=prepare)

        report = judged(backend, load, soak=16)

        assert report.verdict is Verdict.STALE
        assert report.culprits[0].evidence.replay == 15

    in_session(body)


def test_noise_that_is_prepared_is_not_taken_for_memory_that_nobody_owns(
    in_session: InSession,
) -> None:
    def body(backend: Backend) -> None:
        def load() -> Case:
            module = Leaves()

            def prepare(_: int) -> None:
                module.hint.copy_(module.kept)
                module.ring[0].fill_(int.from_bytes(os.urandom(4), "big"))

            return Case(module, inputs, prepare=prepare, state=[module.ring[0]])

        assert judged(backend, load).verdict is Verdict.NONDETERMINISTIC

    in_session(body)
