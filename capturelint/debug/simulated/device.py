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


class Guard(torch._C._acc.DeviceGuard):
    """Tells C++ the type of the device, also while an error is on its way through C++.

    The autograd engine asks for it when it unwinds, with the error pending. Python code then seems
    to fail, and the process ends. So the error is taken out of the way, and kept in `pending`.
    """

    # A dict of its own would be searched for the method first, which an error makes fail.
    __slots__ = ("pending",)

    def __init__(self) -> None:
        super().__init__()
        self.pending: BaseException | None = None

    def type_(self) -> Any:
        """Return the type of the device."""
        try:
            # Any call that the interpreter makes for C code reports a pending error.
            max((None,), key=callable)
        except SystemError as report:
            self.pending = report.__cause__
        return torch._C._autograd.DeviceType.PrivateUse1


class _Backend:
    """What torch asks of a device module, found as `torch.simcuda`."""

    def __init__(self) -> None:
        self.guard = Guard()

    def is_initialized(self) -> bool:
        return True

    def is_available(self) -> bool:
        return True

    def current_device(self) -> int:
        return 0

    def device_count(self) -> int:
        return 1

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        """Do nothing: the device's generator is seeded as that of `cuda`."""


def registered() -> torch.device:
    """Return the device that C++ sees, registering it first. That lasts as long as the process.

    Raises BackendError if the process already has another PrivateUse1 backend.
    """
    name = torch._C._get_privateuse1_backend_name()
    if name == "privateuseone":
        backend = _Backend()
        backend_registration._setup_privateuseone_for_python_backend(
            _BACKEND, backend_module=backend, device_guard=backend.guard
        )
    elif name != _BACKEND:
        raise BackendError(
            f"the simulator needs the PrivateUse1 backend, which {name!r} has taken; "
            "run it in a process that does not import that backend"
        )
    return torch.device(_BACKEND, 0)


def guard() -> Guard:
    """Return the guard of the registered device."""
    found: Guard = getattr(torch, _BACKEND).guard
    return found


def is_simulated(device: Any) -> bool:
    """Return whether `device`, a device, a name or an index, means the simulated one."""
    if device is None:
        return False
    kind = device.type if isinstance(device, torch.device) else torch.device(device).type
    return kind in ("cuda", _BACKEND)
