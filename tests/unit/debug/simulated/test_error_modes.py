"""What the modes of errors let pass, as an H200 with torch 2.11 showed it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from capturelint.debug.simulated import SimulatedBackend
    from tests.conftest import InFork


def _captured(in_fork: InFork, mode: str, call: Callable[[Any], object]) -> bool:
    """Return whether `call`, which is given a tensor on the device, can be captured."""

    def body() -> None:
        import torch

        from capturelint.debug.simulated import SimulatedBackend

        backend = SimulatedBackend(mode)
        with backend.session():
            x = torch.ones(2, 2, device="cuda")
            _capture(backend, call, x)

    try:
        in_fork(body)
    except pytest.fail.Exception as failed:
        if "SimulatedCaptureError" not in str(failed):
            raise
        return False
    return True


def _capture(backend: SimulatedBackend, call: Callable[[Any], object], x: Any) -> None:
    backend.capture(lambda: call(x)).close()


def _allocates_in_a_thread(x: Any) -> object:
    import torch

    thread = threading.Thread(target=lambda: torch.empty(4, device=x.device))
    thread.start()
    thread.join()
    return x + 1


def _works_on_a_stray_stream(x: Any) -> object:
    import torch

    with torch.cuda.stream(torch.cuda.Stream()):  # type: ignore[no-untyped-call]
        return x + 1


def _uses_a_library_first(x: Any) -> object:
    return x @ x


@pytest.mark.parametrize(
    ("call", "passes"),
    [
        (_allocates_in_a_thread, {"global": False, "thread_local": True, "relaxed": True}),
        (_works_on_a_stray_stream, {"global": False, "thread_local": False, "relaxed": True}),
        (_uses_a_library_first, {"global": False, "relaxed": True}),
    ],
)
def test_a_mode_lets_pass_what_it_let_pass_on_a_gpu(
    call: Callable[[Any], object], passes: dict[str, bool], in_fork: InFork
) -> None:
    assert {mode: _captured(in_fork, mode, call) for mode in passes} == passes
