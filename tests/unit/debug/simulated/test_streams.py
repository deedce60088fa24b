"""Streams and events: what joins a capture, what is left unjoined, and what may not be waited for."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import torch

from capturelint.debug.dispatched.refusal import (
    CAPTURED_EVENT,
    INVALIDATED,
    ISOLATION,
    NOT_PERMITTED,
    UNJOINED,
    SimulatedCaptureError,
)
from capturelint.finding import Effect

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession

cuda: Any = torch.cuda


def outcome(backend: SimulatedBackend, call: Callable[[], object]) -> str:
    """Return "", or what a capture is refused with."""
    try:
        backend.capture(call)
    except SimulatedCaptureError as error:
        return str(error)
    return ""


def test_a_stream_joins_by_waiting_and_is_joined_by_being_waited_for(
    in_session: InSession,
) -> None:
    def body(backend: SimulatedBackend) -> None:
        x, side = torch.ones(3, device="cuda"), cuda.Stream()
        seen = []

        def fork(*, join: bool) -> torch.Tensor:
            side.wait_stream(cuda.current_stream())
            with cuda.stream(side):
                y = x * 2
                seen.append(cuda.is_current_stream_capturing())
            if join:
                cuda.current_stream().wait_stream(side)
            return y + 1

        assert outcome(backend, lambda: fork(join=True)) == ""
        assert outcome(backend, lambda: fork(join=False)) == UNJOINED
        assert seen == [True, True]
        assert not side.is_capturing()

    in_session(body)


def test_a_stream_that_only_waited_leaves_nothing_unjoined(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        side = cuda.Stream()

        assert outcome(backend, lambda: side.wait_stream(cuda.current_stream())) == ""

    in_session(body)


def test_joining_through_another_stream_counts(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        x, first, second = torch.ones(3, device="cuda"), cuda.Stream(), cuda.Stream()

        def through(*, late: bool) -> None:
            first.wait_stream(cuda.current_stream())
            with cuda.stream(first):
                x.mul(2)
            second.wait_stream(first)
            with cuda.stream(first if late else second):
                x.mul(3)
            cuda.current_stream().wait_stream(second)

        assert outcome(backend, lambda: through(late=False)) == ""
        assert outcome(backend, lambda: through(late=True)) == UNJOINED

    in_session(body)


def test_a_local_stream_is_unjoined_after_it_is_gone(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        x = torch.ones(3, device="cuda")

        def call() -> None:
            side = cuda.Stream()
            side.wait_stream(cuda.current_stream())
            with side:
                x.mul(2)

        assert outcome(backend, call) == UNJOINED

    in_session(body)


def test_waiting_for_work_outside_the_capture_is_refused(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        side, before = cuda.Stream(), cuda.Event()
        before.record()
        calls: list[Callable[[], object]] = [
            lambda: cuda.current_stream().wait_stream(side),
            lambda: cuda.current_stream().wait_event(before),
            before.wait,
        ]

        assert [outcome(backend, call) for call in calls] == [ISOLATION] * 3

    in_session(body)


def test_events_of_no_matter_are_let_pass(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        side, before = cuda.Stream(), cuda.Event()
        before.record()
        calls: list[Callable[[], object]] = [
            lambda: before.wait(side),
            lambda: cuda.Event().wait(),
            lambda: cuda.Event().query(),
            lambda: cuda.Event().synchronize(),
            lambda: cuda.Event().record(side),
            lambda: cuda.current_stream().record_event().wait(),
            lambda: torch.Event("cuda").record(),
        ]

        assert [outcome(backend, call) for call in calls] == [""] * len(calls)

    in_session(body)


def test_waiting_on_the_host_is_refused_for_every_stream(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        side, before = cuda.Stream(), cuda.Event()
        before.record()
        calls: list[Callable[[], object]] = [
            cuda.synchronize,
            torch.accelerator.synchronize,
            side.synchronize,
            side.query,
            lambda: cuda.default_stream().query(),
            lambda: cuda.current_stream().synchronize(),
            before.synchronize,
            before.query,
        ]

        assert [outcome(backend, call) for call in calls] == [NOT_PERMITTED] * len(calls)
        assert [call() for call in calls] == [None, None, None, True, True, None, None, True]

    in_session(body)


def test_an_event_of_the_capture_may_not_be_asked(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        def ask(method: str) -> None:
            event = cuda.Event()
            event.record()
            getattr(event, method)()

        assert outcome(backend, lambda: ask("query")) == CAPTURED_EVENT
        assert outcome(backend, lambda: ask("synchronize")) == CAPTURED_EVENT

    in_session(body)


def test_timing_needs_events_made_for_it(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        first, second = (cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        second.record()

        assert first.elapsed_time(second) == 0.0
        with pytest.raises(ValueError, match="enable_timing=True"):
            first.elapsed_time(cuda.Event())

    in_session(body)


def test_a_swallowed_refusal_fails_the_end(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        x = torch.ones(3, device="cuda")

        def swallow(call: Callable[[], object]) -> None:
            with contextlib.suppress(SimulatedCaptureError):
                call()

        assert outcome(backend, lambda: swallow(lambda: x.sum().item())) == INVALIDATED
        assert outcome(backend, lambda: swallow(x.cpu)) == ""

    in_session(body)


def test_work_on_the_default_stream_runs_once_and_is_frozen(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        count = torch.zeros(1, device="cuda")

        def call() -> torch.Tensor:
            with cuda.stream(cuda.default_stream()):
                count.add_(1)
            return count + 0

        graph = backend.capture(call)
        for _ in range(2):
            graph.replay()

        assert count.item() == 1.0
        with backend.as_if_capturing(lambda: "") as hazards:
            call()
        assert [hazard.effect for hazard in hazards] == [Effect.STALE]

    in_session(body)


def test_memory_for_a_stream_outside_the_capture_is_refused(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        x, room, side = torch.ones(3, device="cuda"), torch.ones(3, device="cuda"), cuda.Stream()

        def on_side(call: Callable[[], object]) -> None:
            with cuda.stream(side):
                call()

        assert outcome(backend, lambda: on_side(lambda: x * 2)) == NOT_PERMITTED
        assert outcome(backend, lambda: on_side(lambda: room.add_(1))) == ""
        assert outcome(backend, lambda: on_side(lambda: x[0])) == ""

    in_session(body)


def test_another_threads_waiting_copy_fails_the_end(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        x, errors = torch.ones(3, device="cuda"), []

        def copy() -> None:
            try:
                x.cpu()
            except SimulatedCaptureError as error:
                errors.append(str(error))

        def call() -> None:
            thread = threading.Thread(target=copy)
            thread.start()
            thread.join()

        assert outcome(backend, call) == INVALIDATED
        assert errors == [NOT_PERMITTED]

    in_session(body)


def test_each_thread_begins_on_the_default_stream(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        seen: list[Any] = []
        with cuda.stream(cuda.Stream()):
            thread = threading.Thread(target=lambda: seen.append(cuda.current_stream()))
            thread.start()
            thread.join()
            here = cuda.current_stream()

        assert seen == [cuda.default_stream()]
        assert here != cuda.default_stream()
        assert cuda.current_stream() == cuda.default_stream()

    in_session(body)


def test_streams_are_those_of_torch_to_user_code(in_session: InSession) -> None:
    from torch.cuda import Event, Stream, current_stream

    new_stream: Any = Stream
    new_event: Any = Event

    def body(_backend: SimulatedBackend) -> None:
        side: Any = new_stream(priority=-1)

        assert isinstance(side, torch.cuda.Stream)
        assert isinstance(new_event(), torch.cuda.Event)
        assert (side.device, side.priority) == (torch.device("cuda", 0), -1)
        with side:
            assert current_stream() is side
        assert current_stream().cuda_stream == 0
        torch.ones(3, device="cuda").record_stream(side)

    in_session(body)
