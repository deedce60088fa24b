"""What the simulated device says about itself when asked: an H200 with nothing allocated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_GIB = 1 << 30
FREE_BYTES = 139 * _GIB
TOTAL_BYTES = 140 * _GIB
CUDA_VERSION = "13.0"
ARCHITECTURES = "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120 compute_120"


@dataclass(frozen=True, slots=True)
class DeviceProperties:
    """The properties that `torch.cuda.get_device_properties` returns."""

    name: str = "NVIDIA H200 (simulated)"
    major: int = 9
    minor: int = 0
    total_memory: int = TOTAL_BYTES
    multi_processor_count: int = 132
    max_threads_per_multi_processor: int = 2048
    max_threads_per_block: int = 1024
    regs_per_multiprocessor: int = 65536
    shared_memory_per_block: int = 49152
    shared_memory_per_block_optin: int = 232448
    shared_memory_per_multiprocessor: int = 233472
    warp_size: int = 32
    L2_cache_size: int = 60 << 20
    clock_rate: int = 1980000
    memory_clock_rate: int = 3201000
    memory_bus_width: int = 6144
    is_integrated: int = 0
    is_multi_gpu_board: int = 0
    gcnArchName: str = "NVIDIA H200"  # noqa: N815 - as torch spells it
    uuid: str = "00000000-0000-0000-0000-000000000000"
    pci_bus_id: int = 0
    pci_device_id: int = 0
    pci_domain_id: int = 0


_COUNTED = (
    "allocation segment active inactive_split allocated_bytes reserved_bytes active_bytes "
    "inactive_split_bytes requested_bytes"
).split()
_POOLS = ("all", "small_pool", "large_pool")
_FIGURES = ("current", "peak", "allocated", "freed")
_TOTALS = "num_alloc_retries num_ooms num_sync_all_streams num_device_alloc num_device_free".split()


def memory_statistics() -> Mapping[str, object]:
    """Return what the allocator counts, all of it zero."""
    figures = dict.fromkeys(_FIGURES, 0)
    by_pool = {name: {pool: dict(figures) for pool in _POOLS} for name in _COUNTED}
    oversize = {name: dict(figures) for name in ("oversize_allocations", "oversize_segments")}
    return {**by_pool, **oversize, **dict.fromkeys(_TOTALS, 0), "max_split_size": -1}
