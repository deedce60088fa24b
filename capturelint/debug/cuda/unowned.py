"""Free memory of the device's allocator: of the pool of graphs, and what was freed besides.

`torch.cuda.memory_snapshot` tells pools apart, and tensors are made at an address, in torch 2.6 to 2.13.
"""

# ruff: noqa: SLF001 - memory at an address has no public name
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

_MOST = 64 << 20  # bytes that are written over, and copied to the host before
_FREE = "inactive"
_ORDINARY = (0, 0)  # the pool of what is allocated outside of captures


@dataclass(frozen=True, slots=True)
class Range:
    """Memory from an address on, in bytes."""

    address: int
    size: int

    def within(self, others: Iterable[Range]) -> list[Range]:
        """Return the parts of it that are in one of `others`."""
        shared = []
        for one in others:
            start = max(self.address, one.address)
            stop = min(self.address + self.size, one.address + one.size)
            if start < stop:
                shared.append(Range(start, stop - start))
        return shared


class UnownedMemory:
    """What no tensor owns, as the allocator says whenever it is asked: only that is written.

    `pool`: of the graphs. What it held when it was first written is kept on the host.
    """

    def __init__(self, pool: tuple[int, int]) -> None:
        self._pool = pool
        self._before: dict[Range, torch.Tensor] = {}

    def fill(self, byte: int) -> None:
        """Write a byte all over it."""
        torch.cuda.synchronize()
        for one in free(_segments(), self._pool):
            memory = _at(one)
            if one not in self._before:
                self._before[one] = memory.to("cpu", copy=True)
            memory.fill_(byte)
        torch.cuda.synchronize()

    def restore(self) -> None:
        """Let it hold what it held before, where it is still free."""
        torch.cuda.synchronize()
        now = free(_segments(), self._pool)
        for one, before in self._before.items():
            for part in one.within(now):
                start = part.address - one.address
                _at(part).copy_(before[start : start + part.size])
        self._before.clear()
        torch.cuda.synchronize()


def why_not() -> str:
    """Return why free memory cannot be written over here, or ""."""
    if not hasattr(torch._C, "_construct_storage_from_data_pointer"):
        return "this torch gives no tensor at an address"
    backend = torch.cuda.get_allocator_backend()
    if backend != "native":
        return f"the allocator {backend} does not tell what is free"
    segments = _segments()
    if any(segment.get("is_expandable") for segment in segments):
        return "expandable segments do not tell what is mapped"
    if not any("segment_pool_id" in segment for segment in segments):
        return "this torch does not tell pools apart"
    return ""


def too_large(pool: tuple[int, int]) -> str:
    """Return in words how much is free beyond what is written over, or ""."""
    segments = _segments()
    everything = sum(one.size for one in _all_free(segments, pool))
    rest = everything - sum(one.size for one in free(segments, pool))
    return f"{rest >> 20} MiB of {everything >> 20}" if rest else ""


def free(segments: Iterable[Mapping[str, Any]], pool: tuple[int, int]) -> list[Range]:
    """Return what is free, that of the pool first, and no more than is written over at a time."""
    found: list[Range] = []
    left = _MOST
    for one in _all_free(segments, pool):
        if one.size <= left:
            found.append(one)
            left -= one.size
    return found


def _all_free(segments: Iterable[Mapping[str, Any]], pool: tuple[int, int]) -> list[Range]:
    device = torch.cuda.current_device()
    here = [one for one in segments if one.get("device", device) == device]
    by_pool = {
        name: [one for one in here if tuple(one["segment_pool_id"]) == name]
        for name in (pool, _ORDINARY)
    }
    # Temporaries are small.
    return [
        one
        for each in by_pool.values()
        for one in sorted((r for segment in each for r in _free_in(segment)), key=lambda r: r.size)
    ]


def _free_in(segment: Mapping[str, Any]) -> list[Range]:
    found = []
    address = int(segment["address"])
    for block in segment["blocks"]:
        size = int(block["size"])
        if block["state"] == _FREE:
            found.append(Range(address, size))
        address += size
    return found


def _segments() -> list[Mapping[str, Any]]:
    segments: list[Mapping[str, Any]] = torch.cuda.memory_snapshot()  # type: ignore[no-untyped-call]
    return segments


def _at(one: Range) -> torch.Tensor:
    """Return the bytes of a range. They are not kept alive."""
    device = torch.device("cuda", torch.cuda.current_device())
    storage = torch._C._construct_storage_from_data_pointer(one.address, device, one.size)
    return torch.empty(0, dtype=torch.uint8, device=device).set_(storage)
