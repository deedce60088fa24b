"""The GPU that a case runs on: what the forms of operations ask about, and what it is called."""

# ruff: noqa: SLF001 - some facts have no public name
from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import torch

_ASKING = 10.0  # seconds that nvidia-smi may take


class CudaDevice:
    """The current device, as `dispatched.arguments.Device` describes one."""

    def is_pinned(self, tensor: torch.Tensor) -> bool:
        """Return whether a tensor of the host lies in pinned memory."""
        return tensor.is_pinned()

    def is_foreign(self, generator: torch.Generator) -> bool:
        """Return whether a generator of the device is not the default one, which graphs know."""
        if generator.device.type != "cuda":
            return False  # the operation itself refuses it
        # Torch hands out another object for the same generator.
        own, default = (
            getattr(one, "_cdata", None)
            for one in (generator, torch.cuda.default_generators[generator.device.index or 0])
        )
        return own != default


def moved_together(group: Sequence[torch.Tensor]) -> dict[int, torch.Tensor]:
    """Return tensors on the device for those of one storage on the host, by the id of each."""
    storage: Any = group[0].untyped_storage().cuda()
    moved: dict[int, torch.Tensor] = {}
    for tensor in group:
        placed = torch.empty(0, dtype=tensor.dtype, device=storage.device)
        placed.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())
        moved[id(tensor)] = placed.requires_grad_(tensor.requires_grad and tensor.is_leaf)
    return moved


def facts() -> Mapping[str, str]:
    """Return versions, device and settings by name, for a report."""
    major, minor = torch.cuda.get_device_capability()
    return {
        "backend": "cuda",
        "device": torch.cuda.get_device_name(),
        "capability": f"{major}.{minor}",
        "driver": driver(),
        "cuda": str(torch.version.cuda),
        "torch": torch.__version__,
        "allocator": allocator(),
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
    }


def allocator() -> str:
    """Return which allocator torch uses, and how it was set up."""
    names = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
    chosen = next((os.environ[name] for name in names if os.environ.get(name)), "")
    backend = torch.cuda.get_allocator_backend()
    return f"{backend}, {chosen}" if chosen else backend


@cache
def driver() -> str:
    """Return the version of the driver; where nvidia-smi cannot tell, the CUDA that it supports."""
    command = ("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    try:
        told = subprocess.run(  # noqa: S603 - a fixed command
            command, capture_output=True, text=True, timeout=_ASKING, check=True
        ).stdout.split()
    except (OSError, subprocess.SubprocessError):
        told = []
    if told:
        return told[0]
    bindings: Any = torch._C
    version = int(bindings._cuda_getDriverVersion())
    return f"for CUDA {version // 1000}.{version % 1000 // 10}"
