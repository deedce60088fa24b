"""`torch.cuda`, `torch.accelerator` and what they ask of their build, for the simulated device."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

from capturelint.debug.simulated.bindings import Bindings
from capturelint.debug.simulated.device import CUDA
from capturelint.debug.simulated.device_facts import (
    CUDA_VERSION,
    FREE_BYTES,
    TOTAL_BYTES,
    DeviceProperties,
)
from capturelint.debug.simulated.graph_names import put_graphs
from capturelint.debug.simulated.stream_names import put_streams

if TYPE_CHECKING:
    from capturelint.debug.dispatched.patches import Patches
    from capturelint.debug.simulated.simulator import Simulator


def put_cuda(patches: Patches, simulator: Simulator) -> None:
    """Let `torch.cuda` and `torch.accelerator` answer for the simulated device."""
    bindings = Bindings(simulator)
    for name, function in bindings.table().items():
        patches.put(torch._C, name, function)
    patches.put(torch._C, "_has_cuda", value=True)
    patches.put(torch._C, "_host_emptyCache", lambda: None)
    patches.put(torch.version, "cuda", CUDA_VERSION)
    for name in ("_scatter", "_gather", "_broadcast", "_broadcast_coalesced"):
        patches.put(torch._C, name, bindings.spread)
    _put_initialised(patches, simulator, bindings)
    _put_accelerator(patches, simulator, bindings)
    put_streams(patches, simulator)
    put_graphs(patches, simulator)


def _put_initialised(patches: Patches, simulator: Simulator, bindings: Bindings) -> None:
    """Give `torch.cuda` what initialising it sets."""
    cuda = torch.cuda
    properties = DeviceProperties()
    patches.put(cuda, "_initialized", value=True)
    patches.put(cuda, "_is_in_bad_fork", lambda: False)
    patches.put(cuda, "_exchange_device", bindings.exchange_device)
    patches.put(cuda, "_maybe_exchange_device", bindings.exchange_device)
    patches.put(cuda, "_get_device_properties", lambda _device: properties)
    patches.put(cuda, "default_generators", (simulator.random.default,))
    patches.put(cuda, "_cudart", _runtime(bindings))
    # Its own answer is kept: it may have counted no device before the session. Others ask it by name.
    patches.put(cuda, "_cached_device_count", value=1)
    patches.put(cuda.nvtx, "_nvtx", _ranges())


def _one() -> int:
    # Its own answer is cached: it may have counted no device before the session.
    return 1


def _runtime(bindings: Bindings) -> SimpleNamespace:
    """Return the functions of CUDA's runtime that torch hands out."""
    return SimpleNamespace(
        cudaMemGetInfo=lambda _device: (FREE_BYTES, TOTAL_BYTES),
        cudaProfilerStart=bindings.profile,
        cudaProfilerStop=bindings.profile,
        cudaHostRegister=lambda *_args: 0,
        cudaHostUnregister=lambda *_args: 0,
        cudaError=SimpleNamespace(success=0),
        cudaGetErrorString=str,
    )


def _ranges() -> SimpleNamespace:
    """Return the functions of NVTX, which only mark a profile."""
    names = "rangePushA rangePop rangeStartA rangeEnd markA deviceRangeStart deviceRangeEnd".split()
    return SimpleNamespace(**dict.fromkeys(names, lambda *_args: 0))


def _put_accelerator(patches: Patches, simulator: Simulator, bindings: Bindings) -> None:
    streams = simulator.streams

    def set_stream(stream: Any) -> None:
        streams.current = streams.numbered(stream.stream_id)

    table = {
        "getAccelerator": lambda: torch.device(CUDA.type),
        "getDeviceIndex": lambda: 0,
        "setDeviceIndex": bindings.exchange_device,
        "exchangeDevice": bindings.exchange_device,
        "maybeExchangeDevice": bindings.exchange_device,
        "getStream": lambda _device: streams.current,
        "setStream": set_stream,
        "synchronizeDevice": bindings.synchronize,
        "getMemoryInfo": lambda _device: (FREE_BYTES, TOTAL_BYTES),
        "isAllocatorInitialized": lambda: False,
        "emptyCache": lambda *_device: None,
    }
    for name, function in table.items():
        patches.put(torch._C, f"_accelerator_{name}", function)
    patches.put(torch.accelerator, "device_count", _one)
    patches.put(torch._C, "_get_accelerator", lambda *_checks: torch.device(CUDA.type))
