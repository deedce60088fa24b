"""What a graph of a call holds, and what an eager call runs: nodes by kind, and kernels.

A graph is kept, and its handle told, by `CUDAGraph(keep_graph=True)` and `raw_cuda_graph` of torch 2.8
and later. Its nodes are told by the driver (`cuGraphGetNodes`, CUDA 10 and later).
"""

from __future__ import annotations

import ctypes
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

_DRIVER = "libcuda.so.1"
# CUgraphNodeType of cuda.h, as far as it says what runs on the device.
_KERNEL, _CHILD = 0, 4
_IDLE = frozenset({5, 6, 7})  # empty, wait for an event, record one


def kept_graph() -> torch.cuda.CUDAGraph | None:
    """Return a graph that keeps its nodes once it is captured; None where torch has none."""
    if not hasattr(torch.cuda.CUDAGraph, "raw_cuda_graph"):
        return None
    return torch.cuda.CUDAGraph(keep_graph=True)


def nodes_of(graph: torch.cuda.CUDAGraph) -> tuple[int, int] | None:
    """Return how many kernels and how many other pieces of work a kept graph holds, once captured.

    None where the driver does not tell.
    """
    try:
        kinds = Counter(_kinds(ctypes.CDLL(_DRIVER), int(graph.raw_cuda_graph())))
    except (OSError, RuntimeError, AttributeError):
        return None
    return work_in(kinds)


def work_in(kinds: Mapping[int, int]) -> tuple[int, int]:
    """Return how many of these nodes are kernels, and how many are other work. `kinds`: how many of each."""
    others = (number for kind, number in kinds.items() if kind not in (_KERNEL, *_IDLE))
    return kinds.get(_KERNEL, 0), sum(others)


def kernels_run(call: Callable[[], object]) -> int | None:
    """Return how many kernels one call runs, as torch's profiler sees; None if it sees nothing."""
    from torch.profiler import ProfilerActivity, profile

    torch.cuda.synchronize()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of traces that are kept for nobody
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            call()
            torch.cuda.synchronize()
    return kernels_in(profiler.events() or ())


def kernels_in(events: Iterable[Any]) -> int | None:
    """Return how many events of a profile are kernels; None where none is of the device.

    Each has `name` and `device_type`.
    """
    here = [
        one.name
        for one in events
        if one.device_type.name == "CUDA" and not getattr(one, "is_user_annotation", False)
    ]
    if not here:
        return None
    return sum(not name.startswith(("Memcpy", "Memset")) for name in here)


def _kinds(driver: Any, graph: int) -> Iterable[int]:
    """Yield the kind of each node of a graph, also of those inside it. Raises RuntimeError."""
    count = ctypes.c_size_t()
    handle = ctypes.c_void_p(graph)
    _check(driver.cuGraphGetNodes(handle, None, ctypes.byref(count)))
    nodes = (ctypes.c_void_p * count.value)()
    if count.value:
        _check(driver.cuGraphGetNodes(handle, nodes, ctypes.byref(count)))
    for node in nodes:
        kind = ctypes.c_int()
        _check(driver.cuGraphNodeGetType(ctypes.c_void_p(node), ctypes.byref(kind)))
        if kind.value != _CHILD:
            yield kind.value
            continue
        child = ctypes.c_void_p()
        _check(driver.cuGraphChildGraphNodeGetGraph(ctypes.c_void_p(node), ctypes.byref(child)))
        yield from _kinds(driver, child.value or 0)


def _check(status: int) -> None:
    if status:
        raise RuntimeError(f"the driver tells no nodes: error {status}")
