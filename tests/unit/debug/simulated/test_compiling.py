"""`torch.compile` in a session: eager, noted, and refused where it would make graphs of its own."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from capturelint.debug.dispatched.refusal import SimulatedCaptureError
from capturelint.debug.simulated.compiling import uses_graphs

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, False),
        ({"mode": "default"}, False),
        ({"mode": "reduce-overhead"}, True),
        ({"mode": "max-autotune"}, True),
        ({"mode": "max-autotune-no-cudagraphs"}, False),
        ({"options": {"triton.cudagraphs": True}}, True),
        ({"options": {"triton.cudagraphs": False}}, False),
        ({"mode": None, "options": None}, False),
    ],
)
def test_some_modes_make_graphs(options: dict[str, Any], expected: bool) -> None:
    assert uses_graphs(options) is expected


def test_compiled_functions_and_modules_run_eagerly_and_are_noted(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        layer, x = nn.Linear(2, 2).cuda(), torch.ones(2, 2, device="cuda")

        @torch.compile
        def twice(y: torch.Tensor) -> torch.Tensor:
            return y * 2

        @torch.compile(fullgraph=True)
        def thrice(y: torch.Tensor) -> torch.Tensor:
            return y * 3

        compiled = torch.compile(layer)
        layer.compile()

        assert torch.equal(twice(x), x * 2)
        assert torch.equal(thrice(x), x * 3)
        assert torch.equal(compiled(x), layer(x))
        assert [note.split(": ")[0] for note in backend.notes()] == ["torch.compile"] * 3
        assert any("thrice ran eagerly" in note for note in backend.notes())
        assert any("Linear ran eagerly" in note for note in backend.notes())

    in_session(body)


def test_a_compiled_hazard_is_still_seen(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        x = torch.ones(2, device="cuda")
        compiled = torch.compile(lambda y: y.sum().item())

        with pytest.raises(SimulatedCaptureError, match="not permitted"):
            backend.capture(lambda: compiled(x))

    in_session(body)


@pytest.mark.parametrize("mode", ["reduce-overhead", "max-autotune"])
def test_graphs_inside_a_capture_are_refused(in_session: InSession, mode: str) -> None:
    def body(backend: SimulatedBackend) -> None:
        layer, x = nn.Linear(2, 2).cuda(), torch.ones(2, 2, device="cuda")
        module: Any = torch.compile(layer, mode=mode)
        function = torch.compile(lambda y: y * 2, mode=mode)

        assert torch.equal(module(x), layer(x))
        assert module.weight is layer.weight
        assert isinstance(module, nn.Module)
        for call in (partial(module, x), partial(function, x)):
            with pytest.raises(SimulatedCaptureError, match="Cannot prepare for replay"):
                backend.capture(call)

    in_session(body)


def test_threads_work_on_the_device(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        x, results = torch.ones(2, device="cuda"), []
        thread = threading.Thread(target=lambda: results.append(x * 2))
        thread.start()
        thread.join()

        assert torch.equal(results[0], x * 2)
        assert not backend.unsupported()

    in_session(body)
