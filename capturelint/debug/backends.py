"""Which backend runs a case: the GPU where there is one, else the capture simulator."""

from __future__ import annotations

from capturelint.debug.backend import Backend, BackendError
from capturelint.debug.settings import Settings

CHOICES = ("auto", "cuda", "simulated")


class UnknownBackendError(BackendError):
    """A backend was asked for that does not exist."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no backend {name!r}; the backends are {', '.join(CHOICES)}")


class NoDeviceError(BackendError):
    """The backend for a GPU was asked for, and there is none."""

    def __init__(self, why: str) -> None:
        super().__init__(f"backend cuda cannot be used: {why}; use --backend simulated")


class BrokenTorchError(BackendError):
    """torch is installed, but importing it fails."""

    def __init__(self, error: Exception) -> None:
        text = (str(error).splitlines() or [type(error).__name__])[0]
        super().__init__(f"importing torch fails: {text}; `python -c 'import torch'` shows more")


def check(name: str) -> None:
    """Raise a `BackendError` if `name` is no backend. Does not import torch."""
    if name not in CHOICES:
        raise UnknownBackendError(name)


def chosen(settings: Settings) -> tuple[Backend, tuple[str, ...]]:
    """Return the backend that is asked for, and notes on the choice. Imports torch.

    `auto` is the GPU where torch can use one. Raises `BackendError` where a backend cannot be used.
    """
    check(settings.backend)
    try:
        import torch  # noqa: F401 - whether it can be imported
    except (ImportError, OSError) as error:  # OSError: a library of its own is missing
        raise BrokenTorchError(error) from error
    missing = "" if settings.backend == "simulated" else why_no_device()
    if settings.backend == "cuda" and missing:
        raise NoDeviceError(missing)
    mode = settings.capture_error_mode
    if settings.backend != "simulated" and not missing:
        from capturelint.debug.cuda import CudaBackend

        return CudaBackend(mode), ()
    from capturelint.debug.simulated import SimulatedBackend

    # That there is a GPU and it is not used, its owner must be told.
    is_idle = settings.backend == "auto" and _is_for_rocm()
    return SimulatedBackend(mode), ((f"judged on the simulator: {missing}",) if is_idle else ())


def why_no_device() -> str:
    """Return why torch cannot use an NVIDIA GPU here, or "" if it can. Imports torch."""
    import torch

    version = torch.__version__
    if _is_for_rocm():
        return f"torch {version} is built for ROCm, whose captures are not known to this version"
    if torch.version.cuda is None:
        return f"torch {version} is built without CUDA"
    if not torch.cuda.is_available():
        return f"torch {version} sees no CUDA device"
    return ""


def _is_for_rocm() -> bool:
    import torch

    return getattr(torch.version, "hip", None) is not None
