"""The simulated device's two names: `cuda:0` for Python, a PrivateUse1 backend for C++.

C++ asks the device for guards, streams and autograd threads, which a build of torch without CUDA
does not have. A PrivateUse1 backend registered from Python has them, so that autograd runs.
"""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from typing import Any

import torch
from torch.utils import backend_registration

from capturelint.debug.backend import BackendError

CUDA = torch.device("cuda", 0)
HOST = torch.device("cpu")
_BACKEND = "simcuda"


def registered() -> torch.device:
    """Return the device that C++ sees, registering it first. That lasts as long as the process.

    Raises BackendError if the process already has another PrivateUse1 backend.
    """
    name = torch._C._get_privateuse1_backend_name()
    if name == "privateuseone":
        backend_registration._setup_privateuseone_for_python_backend(_BACKEND)
    elif name != _BACKEND:
        raise BackendError(
            f"the simulator needs the PrivateUse1 backend, which {name!r} has taken; "
            "run it in a process that does not import that backend"
        )
    return torch.device(_BACKEND, 0)


def is_simulated(device: Any) -> bool:
    """Return whether `device`, a device, a name or an index, means the simulated one."""
    if device is None:
        return False
    kind = device.type if isinstance(device, torch.device) else torch.device(device).type
    return kind in ("cuda", _BACKEND)
