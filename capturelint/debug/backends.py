"""Which backend runs a case: here, always the capture simulator."""

from __future__ import annotations

from capturelint.debug.backend import Backend, BackendError

CHOICES = ("auto", "cuda", "simulated")


class UnknownBackendError(BackendError):
    """A backend was asked for that does not exist."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no backend {name!r}; the backends are {', '.join(CHOICES)}")


class NoCudaBackendError(BackendError):
    """The backend for a GPU was asked for, and this version has none."""

    def __init__(self) -> None:
        super().__init__("backend cuda is not available in this version; use simulated")


class BrokenTorchError(BackendError):
    """torch is installed, but importing it fails."""

    def __init__(self, error: Exception) -> None:
        text = (str(error).splitlines() or [type(error).__name__])[0]
        super().__init__(f"importing torch fails: {text}; `python -c 'import torch'` shows more")


def check(name: str) -> None:
    """Raise a `BackendError` if `name` is no backend of this version. Does not import torch."""
    if name not in CHOICES:
        raise UnknownBackendError(name)
    if name == "cuda":
        raise NoCudaBackendError


def chosen(name: str) -> tuple[Backend, tuple[str, ...]]:
    """Return the backend for `auto`, `cuda` or `simulated`, and notes on the choice. Imports torch.

    Raises `BackendError` where it cannot be used.
    """
    check(name)
    try:
        import torch
    except (ImportError, OSError) as error:  # OSError: a library of its own is missing
        raise BrokenTorchError(error) from error
    from capturelint.debug.simulated import SimulatedBackend

    if name == "auto" and torch.cuda.is_available():
        return SimulatedBackend(), ("a GPU is here, but this version judges on the simulator only",)
    return SimulatedBackend(), ()
