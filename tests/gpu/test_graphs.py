"""Captures on a device: what they hold, and that a failed one leaves the process fit."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest
import torch

from capturelint.debug.backend import Counts
from capturelint.debug.cuda.backend import CudaBackend
from capturelint.debug.cuda.graphs import CaptureError, Graphs

_MIB = 1 << 20


@pytest.fixture(params=["global", "thread_local", "relaxed"])
def graphs(request: pytest.FixtureRequest) -> Iterator[Graphs]:
    made = Graphs(request.param)
    yield made
    made.close()


def _surroundings() -> tuple[object, ...]:
    return torch.cuda.current_stream(), torch.cuda.get_sync_debug_mode(), gc.isenabled()


def _synchronizes() -> None:
    torch.cuda.synchronize()


def _reads() -> None:
    torch.ones(2, device="cuda").sum().item()


def _raises() -> None:
    raise KeyError("of the code")


def test_replays_follow_the_inputs_one_graph_after_another(graphs: Graphs) -> None:
    x = torch.ones(4, device="cuda")
    outputs = []
    for number in range(3):
        graph = graphs.captured(lambda number=number: x * number)  # type: ignore[misc]
        x.fill_(5)
        graph.replay()
        assert isinstance(graph.output, torch.Tensor)
        outputs.append(graph.output.tolist())
        graph.close()

    assert outputs == [[0.0] * 4, [5.0] * 4, [10.0] * 4]


@pytest.mark.parametrize("call", [_synchronizes, _reads, _raises])
def test_after_a_failure_the_process_is_as_before(graphs: Graphs, call: Callable[[], None]) -> None:
    before = _surroundings()
    with pytest.raises((RuntimeError, KeyError)):
        graphs.captured(call)

    assert _surroundings() == before
    assert graphs.lost() == ""
    torch.rand(3, device="cuda")
    assert graphs.captured(lambda: torch.ones(1, device="cuda")) is not None


def test_failures_do_not_use_up_memory(graphs: Graphs) -> None:
    x = torch.ones(1024, 1024, device="cuda")

    def fails() -> None:
        _ = x + 1
        torch.cuda.synchronize()

    taken = []
    for _ in range(6):
        with pytest.raises(RuntimeError):
            graphs.captured(fails)
        taken.append(torch.cuda.memory_reserved() // _MIB)

    assert taken[-1] <= taken[1]


def test_an_error_that_is_swallowed_still_fails_the_capture(graphs: Graphs) -> None:
    def swallows() -> None:
        try:
            _reads()
        except RuntimeError:
            return

    with pytest.raises(CaptureError):
        graphs.captured(swallows)

    assert graphs.seen.places[0].function == "_reads"


@pytest.mark.skipif(
    not hasattr(torch.cuda.CUDAGraph, "raw_cuda_graph"), reason="this torch tells no nodes"
)
def test_nodes_of_a_graph_and_kernels_of_a_call_are_counted() -> None:
    backend = CudaBackend()
    with backend.session():
        x, y = torch.ones(4, device="cuda"), torch.zeros(4, device="cuda")

        def all_of_it() -> torch.Tensor:
            y.copy_(x)  # a copy, no kernel
            return torch.sin(x + 1)

        def without_a_part() -> torch.Tensor:
            with torch.cuda.stream(torch.cuda.default_stream()):
                z = x + 1
            return torch.sin(z)

        assert backend.counts(all_of_it) == Counts(2, 2, 1)
        assert backend.counts(without_a_part) == Counts(2, 1, 0)
        assert backend.spent() == ""
