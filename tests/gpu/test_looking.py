"""A run as if capturing on a device: what it lists, and that all it exchanges is put back."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.cuda import is_current_stream_capturing as imported_by_name

from capturelint.debug.cuda import CudaBackend
from capturelint.verdict import Hazard


@pytest.fixture
def backend() -> Iterator[CudaBackend]:
    made = CudaBackend()
    with made.session():
        yield made


def _exchanged() -> list[Any]:
    """Return what a look may have left exchanged."""
    owners: tuple[Any, ...] = (torch.cuda.Stream, torch.cuda.Event, torch.cuda.CUDAGraph)
    bindings: Any = torch._C  # noqa: SLF001 - where the answers come from
    return [
        *(dict(vars(owner)) for owner in owners),
        bindings._cuda_isCurrentStreamCapturing,  # noqa: SLF001
        bindings._cuda_synchronize,  # noqa: SLF001
        torch.cuda.manual_seed_all,
        torch.cuda.random.set_rng_state,
        warnings.showwarning,
        list(warnings.filters),
        threading.Thread.run,
        torch.cuda.get_sync_debug_mode(),
        torch.cuda.current_stream(),
        imported_by_name(),
    ]


def _listed(backend: CudaBackend, call: Callable[[], object]) -> list[Hazard]:
    with backend.as_if_capturing(lambda: "") as listed:
        call()
    return listed


def test_code_takes_itself_for_captured_and_all_is_put_back(backend: CudaBackend) -> None:
    before = _exchanged()
    answers: list[bool] = []

    def call() -> None:
        answers.extend([imported_by_name(), torch.cuda.is_current_stream_capturing()])
        raise KeyError

    with pytest.raises(KeyError):
        _listed(backend, call)

    assert answers == [True, True]
    assert _exchanged() == before


def test_each_line_that_waits_or_copies_is_listed_once(backend: CudaBackend) -> None:
    x = torch.ones(3, device="cuda")
    event: Any = torch.cuda.Event()  # type: ignore[no-untyped-call]

    def call() -> None:
        for _ in range(2):
            x.sum().item()
        torch.ones(3).to("cuda", non_blocking=True)
        torch.tensor([1.0], device="cuda")
        torch.cuda.synchronize()
        event.record()
        event.query()
        torch.cuda.manual_seed(5)

    listed = _listed(backend, call)
    first = call.__code__.co_firstlineno

    assert [(one.place.line - first, one.operation, one.code) for one in listed] == [
        (2, "aten._local_scalar_dense.default", "CL101"),
        (3, "aten._to_copy.default", "CL202"),
        (4, "aten._to_copy.default", "CL201"),
        (5, "torch.cuda.synchronize", "CL701"),
        (7, "torch.cuda.Event.query", "CL701"),
        (8, "torch.cuda.manual_seed", ""),
    ]
    assert listed[0].calls == 2


def test_what_a_capture_lets_pass_is_not_listed(backend: CudaBackend) -> None:
    x = torch.ones(3, device="cuda")
    pinned = torch.ones(3).pin_memory()
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]

    def call() -> None:
        torch.tensor([], device="cuda")
        pinned.to("cuda", non_blocking=True)
        torch.ones(3).sum().item()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y = x + 1
        torch.cuda.current_stream().wait_stream(side)
        torch.nn.functional.dropout(y)

    assert _listed(backend, call) == []


def test_work_on_other_streams_is_listed(backend: CudaBackend) -> None:
    x = torch.ones(3, device="cuda")
    side, left = (torch.cuda.Stream() for _ in range(2))  # type: ignore[no-untyped-call]

    def call() -> None:
        with torch.cuda.stream(side):
            x + 1
        left.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(left):
            x + 1

    operations = [one.operation for one in _listed(backend, call)]

    assert operations == ["aten.add.Tensor on a stream outside the capture", "capture end"]


def test_two_calls_show_what_a_graph_would_bake_in(backend: CudaBackend) -> None:
    x = torch.ones(3, device="cuda")
    found = []
    for number in (2, 3):
        with backend.recording() as recording:
            x * number
        found.append(recording)

    (frozen,) = backend.frozen(*found)

    assert (frozen.operation, frozen.before, frozen.after) == ("aten.mul.Tensor", "2", "3")
