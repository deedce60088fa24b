"""What a capture refuses, what it lets pass, and what it leaves behind."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

from capturelint.debug.backend import CannotTellError
from capturelint.debug.cases.case import Case
from capturelint.debug.dispatched.refusal import (
    INVALIDATED,
    NOT_PERMITTED,
    UNJOINED,
    UNPINNED,
    SimulatedCaptureError,
)
from capturelint.debug.engine import judge
from capturelint.debug.settings import Settings
from capturelint.verdict import Verdict
from tests.unit.debug.simulated.replaying import host

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


def _message(backend: SimulatedBackend, call: Callable[[], object]) -> str:
    with pytest.raises(SimulatedCaptureError) as raised:
        backend.capture(call)
    return str(raised.value)


def test_a_host_read_is_refused_at_its_line(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        ones = torch.ones(3, device="cuda")

        def reads() -> float:
            return ones.sum().item()

        with pytest.raises(SimulatedCaptureError) as raised:
            backend.capture(reads)
        assert str(raised.value) == NOT_PERMITTED
        place = raised.value.places[0]
        line = reads.__code__.co_firstlineno + 1
        assert (Path(place.path).name, place.line) == (Path(__file__).name, line)

    in_session(body)


def test_that_triton_has_no_gpu_is_no_refusal(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        launcher = _launcher()
        ones = torch.ones(3, device="cuda")

        with pytest.raises(CannotTellError, match="Triton's"):
            backend.capture(lambda: launcher["launch"](launcher["fails"]))
        with pytest.raises(SimulatedCaptureError):  # what it calls is the user's
            backend.capture(lambda: launcher["launch"](lambda: ones.sum().item()))

    in_session(body)


def test_an_eager_call_in_which_triton_has_no_gpu_is_no_fault_of_the_case(
    in_session: InSession,
) -> None:
    class Launches(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            launcher = _launcher()
            launcher["launch"](launcher["fails"])
            return x

    def body(backend: SimulatedBackend) -> None:
        case = Case({"model": Launches()}, lambda seed: {"model": (torch.ones(3),)})
        report = judge(lambda: case, backend, Settings(), known={}, emit=lambda _: None)

        (root,) = report.modules
        assert (report.verdict, report.culprits) == (Verdict.UNDECIDED, ())
        assert root.why.startswith("it cannot be run faithfully: it launches a kernel of Triton's")

    in_session(body)


def _launcher() -> dict[str, Any]:
    """Return functions that are Triton's own by their module: one calls what it is given, one raises."""
    names: dict[str, Any] = {"__name__": "triton.backends.nvidia.driver"}
    exec("def launch(call): call()\ndef fails(): raise RuntimeError('Triton Error')", names)
    return names


def test_an_unpinned_copy_is_refused_either_way(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        there, here = torch.ones(3, device="cuda"), torch.ones(3)
        assert _message(backend, lambda: here.cuda(non_blocking=True)) == UNPINNED
        assert _message(backend, there.cpu) == UNPINNED

    in_session(body)


def test_copies_without_elements_and_reads_of_the_host_are_let_pass(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        here = torch.ones(3)
        there = torch.ones(3, device="cuda")

        def harmless() -> torch.Tensor:
            torch.tensor([], device="cuda")
            here[:0].cuda()
            return there * here.sum().item()

        graph = backend.capture(harmless)
        graph.replay()
        assert host(graph.output)[0].tolist() == [3, 3, 3]

    in_session(body)


def test_a_swallowed_refusal_fails_the_capture_at_its_end(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        ones = torch.ones(3, device="cuda")

        def swallows() -> torch.Tensor:
            with contextlib.suppress(RuntimeError):
                ones.sum().item()
            return ones + 1

        with pytest.raises(SimulatedCaptureError) as raised:
            backend.capture(swallows)
        first = raised.value.__context__
        assert (str(raised.value), str(first)) == (INVALIDATED, NOT_PERMITTED)
        assert isinstance(first, SimulatedCaptureError)
        assert first.places[0].line == swallows.__code__.co_firstlineno + 2

    in_session(body)


def test_a_swallowed_refusal_of_torch_itself_does_not_fail_the_capture(
    in_session: InSession,
) -> None:
    def body(backend: SimulatedBackend) -> None:
        ones = torch.ones(3, device="cuda")

        def swallows() -> torch.Tensor:
            with contextlib.suppress(RuntimeError):
                ones.cpu()
            return ones + 1

        graph = backend.capture(swallows)
        graph.replay()
        assert host(graph.output)[0].tolist() == [2, 2, 2]

    in_session(body)


def test_a_refusal_in_a_scripted_function_is_found_under_the_error_that_it_raises(
    in_session: InSession,
) -> None:
    def body(backend: SimulatedBackend) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            read = torch.jit.script(_read)
        ones = torch.ones(3, device="cuda")
        with pytest.raises(RuntimeError, match="TorchScript") as raised:
            backend.capture(lambda: read(ones))
        first = raised.value.__context__
        assert isinstance(first, SimulatedCaptureError)
        assert (str(first), Path(first.places[0].path).name) == (UNPINNED, Path(__file__).name)

    in_session(body)


def _read(x: torch.Tensor) -> torch.Tensor:
    return x.cpu()


def test_an_error_after_a_swallowed_refusal_is_traced_back_to_it(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        ones = torch.ones(3, device="cuda")

        def fails_later() -> None:
            with contextlib.suppress(RuntimeError):
                ones.sum().item()
            raise ValueError("later")

        with pytest.raises(ValueError, match="later") as raised:
            backend.capture(fails_later)
        assert str(raised.value.__context__) == NOT_PERMITTED

    in_session(body)


def test_an_error_of_the_user_is_left_alone(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        ones = torch.ones(3, device="cuda")

        def fails() -> None:
            with contextlib.suppress(RuntimeError):
                ones.cpu()
            raise ValueError("of the user")

        with pytest.raises(ValueError, match="of the user") as raised:
            backend.capture(fails)
        assert raised.value.__context__ is None

    in_session(body)


def test_work_left_on_a_side_stream_is_refused_at_the_end(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        ones = torch.ones(3, device="cuda")

        def forks(*, joins: bool) -> torch.Tensor:
            side: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call] # forgotten when the function returns
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                result = ones + 1
            if joins:
                torch.cuda.current_stream().wait_stream(side)
            return result

        assert _message(backend, lambda: forks(joins=False)) == UNJOINED
        backend.capture(lambda: forks(joins=True))

    in_session(body)


def test_work_on_the_default_stream_runs_once_and_is_frozen(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        ones = torch.ones(3, device="cuda")

        def outside() -> torch.Tensor:
            with torch.cuda.stream(torch.cuda.default_stream()):
                return ones + 1

        graph = backend.capture(outside)
        ones.fill_(5)
        graph.replay()
        assert host(graph.output)[0].tolist() == [2, 2, 2]

    in_session(body)


def test_memory_taken_in_another_thread_is_refused(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        errors: list[str] = []

        def take() -> None:
            try:
                torch.ones(3, device="cuda")
            except SimulatedCaptureError as error:
                errors.append(str(error))

        def starts() -> None:
            thread = threading.Thread(target=take)
            thread.start()
            thread.join()

        assert _message(backend, starts) == INVALIDATED
        assert errors == [NOT_PERMITTED]

    in_session(body)


def test_a_failed_capture_puts_back_what_was_written_and_another_one_works(
    in_session: InSession,
) -> None:
    def body(backend: SimulatedBackend) -> None:
        buffer = torch.zeros(2, device="cuda")
        stream = torch.cuda.current_stream()

        def writes_then_reads() -> float:
            buffer.add_(1)
            return buffer.sum().item()

        assert _message(backend, writes_then_reads) == NOT_PERMITTED
        assert host(buffer)[0].tolist() == [0, 0]
        assert torch.cuda.current_stream() == stream
        graph = backend.capture(lambda: buffer + torch.rand(2, device="cuda"))
        graph.replay()
        assert buffer.sum().item() == 0

    in_session(body)


def test_code_can_tell_that_it_is_captured(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        graph = backend.capture(torch.cuda.is_current_stream_capturing)
        assert graph.output is True
        assert not torch.cuda.is_current_stream_capturing()

    in_session(body)
