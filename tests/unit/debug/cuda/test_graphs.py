"""The order of a capture and of clearing up after it, with stand-ins for what CUDA does."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from capturelint.debug.backend import SpentError
from capturelint.debug.cuda.graphs import CaptureError, Graphs
from capturelint.debug.cuda.raised import GUARD

_INVALID = "CUDA error: operation failed (cudaErrorStreamCaptureInvalidated)"
_STUCK = "Offset increment outside graph capture encountered unexpectedly."


class Cuda:
    """A device that notes what is done to it.

    `is_stuck`: random numbers cannot be drawn until a capture ends well. `is_lost`: nothing works.
    `is_full`: no memory is left.
    `ends_badly`: the next capture does not end well, and the allocator stays in its pool.
    """

    def __init__(self) -> None:
        self.done: list[str] = []
        self.warnings: list[str] = []
        self.mode = 0
        self.is_stuck = self.is_lost = self.is_full = self.ends_badly = False
        self.underway: set[int] = set()
        self.pools = 0

    def new_pool(self) -> int:
        self.pools += 1
        return self.pools

    def synchronize(self) -> None:
        if self.is_lost:
            raise RuntimeError("CUDA error: device-side assert triggered\nmore")

    def rand(self, *_: Any, **__: Any) -> None:
        if self.is_full:
            raise torch.OutOfMemoryError("CUDA out of memory")
        if self.is_stuck and not self.underway:
            raise RuntimeError(_STUCK)

    def leave(self, _device: int, pool: int) -> None:
        if pool not in self.underway:
            raise RuntimeError("not currently recording")
        self.underway.remove(pool)
        self.done.append("left")

    def set_mode(self, mode: Any) -> None:
        self.mode = mode
        self.done.append(f"mode {mode}")

    def graph(self) -> Graph:
        return Graph(self)

    @contextmanager
    def on(self, _stream: object) -> Iterator[None]:
        yield


class Graph:
    def __init__(self, cuda: Cuda) -> None:
        self.cuda = cuda
        self.pool = 0

    def capture_begin(self, *, pool: int, capture_error_mode: str) -> None:
        if pool in self.cuda.underway:
            raise RuntimeError("already recording to this pool")
        self.pool = pool
        self.cuda.underway.add(pool)
        self.cuda.done.append(f"begin {pool} {capture_error_mode}")

    def capture_end(self) -> None:
        self.cuda.done.append(f"end {self.pool}")
        if self.cuda.ends_badly:
            self.cuda.ends_badly = False
            self.cuda.is_stuck = True
            raise RuntimeError(_INVALID)
        self.cuda.underway.discard(self.pool)
        self.cuda.is_stuck = False
        for text in self.cuda.warnings:
            warnings.warn(text, stacklevel=1)

    def reset(self) -> None:
        self.cuda.done.append(f"reset {self.pool}")


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Cuda:
    made = Cuda()
    stand_ins = {
        "Stream": lambda: "stream",
        "CUDAGraph": made.graph,
        "stream": made.on,
        "synchronize": made.synchronize,
        "graph_pool_handle": made.new_pool,
        "current_device": lambda: 0,
        "current_stream": lambda: "stream",
    }
    bindings = {
        "_cuda_get_sync_debug_mode": lambda: made.mode,
        "_cuda_set_sync_debug_mode": made.set_mode,
        "_cuda_endAllocateToPool": made.leave,
        "_cuda_releasePool": lambda *_: None,
    }
    for name, value in stand_ins.items():
        monkeypatch.setattr(torch.cuda, name, value)
    monkeypatch.setattr(torch, "rand", made.rand)
    for name, value in bindings.items():
        monkeypatch.setattr(torch._C, name, value, raising=False)  # noqa: SLF001
    return made


def _raising(text: str) -> Callable[[], None]:
    def call() -> None:
        raise RuntimeError(text)

    return call


def test_a_capture_is_guarded_in_the_mode_and_the_pool_that_is_kept_alive(cuda: Cuda) -> None:
    seen: list[object] = []
    graph = Graphs("thread_local").captured(lambda: seen.append((cuda.mode, gc.isenabled())))

    assert cuda.done == [
        *("begin 1 thread_local", "end 1"),
        *("begin 1 thread_local", "mode 2", "mode 0", "end 1"),
    ]
    assert seen == [(2, False)]
    assert gc.isenabled()
    graph.close()
    assert cuda.done[-1] == "reset 1"


def test_that_nothing_was_recorded_is_taken_from_the_warning_of_torch(cuda: Cuda) -> None:
    graphs = Graphs("global")

    assert not graphs.captured(lambda: None).is_empty
    cuda.warnings = ["The CUDA Graph is empty. This usually means that the graph was ..."]
    assert graphs.captured(lambda: None).is_empty
    cuda.warnings = ["of something else"]
    with pytest.warns(UserWarning, match="of something else"):
        assert not graphs.captured(lambda: None).is_empty


def test_nobody_is_told_that_the_graph_of_code_that_raised_is_empty(cuda: Cuda) -> None:
    graphs = Graphs("global")
    graphs.captured(lambda: None)
    cuda.warnings = ["The CUDA Graph is empty. This usually means that the graph was ..."]
    with (
        warnings.catch_warnings(record=True) as told,
        pytest.raises(RuntimeError, match="of the code"),
    ):
        graphs.captured(_raising("of the code"))

    assert not told


def test_an_error_of_the_code_ends_the_capture_and_keeps_the_pool(cuda: Cuda) -> None:
    graphs = Graphs("global")
    with pytest.raises(RuntimeError, match="shapes differ"):
        graphs.captured(_raising("shapes differ"))
    graphs.captured(lambda: None)

    assert (cuda.mode, gc.isenabled(), cuda.pools) == (0, True, 1)


def test_what_cuda_ends_badly_is_left_and_mended_by_a_capture_that_ends_well(cuda: Cuda) -> None:
    graphs = Graphs("global")
    graphs.captured(lambda: None)
    cuda.ends_badly = True
    with pytest.raises(RuntimeError, match="not permitted"):
        graphs.captured(_raising("CUDA error: operation not permitted"))

    assert "left" in cuda.done
    assert (cuda.is_stuck, cuda.pools, graphs.lost()) == (False, 2, "")
    graphs.captured(lambda: None)


def test_a_device_that_is_lost_spends_the_process(cuda: Cuda) -> None:
    graphs = Graphs("global")

    def loses() -> None:
        cuda.is_lost = True
        raise RuntimeError("CUDA error: device-side assert triggered")

    with pytest.raises(SpentError, match=r"^the device is lost: CUDA error: device-side assert tr"):
        graphs.captured(loses)
    with pytest.raises(SpentError):
        graphs.captured(lambda: None)


def test_a_device_that_is_full_is_not_lost(cuda: Cuda) -> None:
    graphs = Graphs("global")

    def fills() -> None:
        cuda.is_full = True
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(torch.OutOfMemoryError):
        graphs.captured(fills)

    assert graphs.lost() == ""


def test_a_swallowed_wait_fails_a_capture_that_ended_well(cuda: Cuda) -> None:
    def swallows() -> None:
        try:
            _raising(GUARD)()
        except RuntimeError:
            return

    graphs = Graphs("global")
    with pytest.raises(CaptureError):
        graphs.captured(swallows)

    assert str(graphs.seen.error) == GUARD
    assert cuda.done[-1] == "reset 1"


def test_a_broken_handle_is_remembered(cuda: Cuda) -> None:
    graphs = Graphs("global")
    text = "cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling `cusolverDnXsyevd`"
    with pytest.raises(RuntimeError, match="cusolver"):
        graphs.captured(_raising(text))

    assert graphs.broken == f"a failed capture left a library unusable: {text}"
    assert cuda.mode == 0


def test_what_the_code_held_when_it_failed_is_let_go(cuda: Cuda) -> None:
    class Held:
        pass

    held: list[weakref.ref[Held]] = []

    def fails() -> None:
        one = Held()
        held.append(weakref.ref(one))
        raise RuntimeError("CUDA error")

    with pytest.raises(RuntimeError) as caught:
        Graphs("global").captured(fails)

    assert held[0]() is None
    assert caught.value.__traceback__ is not None
    assert cuda.mode == 0
