"""What capturelint finds here to run models with, and what each missing piece takes away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from shutil import which

from capturelint.debug.backend import Backend, BackendError

_CASES = {
    "transformers": "cases such as `hf:llama` cannot be made",
    "timm": "cases such as `timm:resnet18` cannot be made",
}


@dataclass(frozen=True, slots=True)
class Aid:
    """One piece. `found`: what is there, in words, or "". `missing`: why it is not.

    `lost`: what cannot be done without it.
    """

    name: str
    found: str
    missing: str = ""
    lost: str = ""


def aids() -> Iterator[Aid]:
    """Yield the pieces, each once it was tried. Imports torch, where it is there, and tries captures."""
    torch = _torch()
    yield torch
    if torch.found:
        yield _tried("GPU", "models are judged on the simulator", _gpu)
        yield _tried("simulator", "models can be judged on a GPU only", _simulator)
    yield Aid(
        "nvidia-smi",
        which("nvidia-smi") or "",
        "not on the path",
        "reports tell what CUDA the driver is for, not its version",
    )
    for package, lost in _CASES.items():
        yield Aid(package, _version(package), "not installed", lost)


def _torch() -> Aid:
    lost = "`bisect` cannot run; `check` needs no torch"
    if find_spec("torch") is None:
        return Aid("torch", "", "not installed: pip install 'capturelint[dynamic]'", lost)
    try:
        import torch
    except (ImportError, OSError) as error:  # OSError: a library of its own is missing
        return Aid("torch", "", f"importing it fails: {_first_line(error)}", lost)
    return Aid("torch", torch.__version__)


def _gpu() -> str:
    """Return what the GPU is, after a capture on it. Raises BackendError if there is none."""
    from capturelint.debug.backends import why_no_device

    missing = why_no_device()
    if missing:
        raise BackendError(missing)
    from capturelint.debug.cuda import CudaBackend

    backend = CudaBackend()
    with backend.session():
        _try_capture(backend)
        facts = backend.environment()
    known = (f"{name} {facts[name]}" for name in ("driver", "cuda", "allocator"))
    return f"{facts['device']}, {', '.join(known)}; a capture and its replay work"


def _simulator() -> str:
    """Return what the simulator showed. Raises BackendError if this torch does not suit it."""
    from capturelint.debug.simulated import SimulatedBackend

    backend = SimulatedBackend()
    with backend.session():
        _try_capture(backend)
    return "its own checks pass; a capture and its replay work"


def _try_capture(device: Backend) -> None:
    """Capture one operation and replay it. Raises BackendError if the replay is wrong."""
    import torch

    x = torch.ones(2, device="cuda")
    with device.warming_up():
        _ = x + 1
    graph = device.capture(lambda: x + 1)
    x.fill_(3)
    graph.replay()
    output = graph.output
    is_right = isinstance(output, torch.Tensor) and torch.equal(output, x + 1)
    graph.close()
    if not is_right:
        raise BackendError("a replay of `x + 1` is wrong")


def _tried(name: str, lost: str, work: Callable[[], str]) -> Aid:
    try:
        return Aid(name, work())
    except Exception as error:  # noqa: BLE001 - whatever fails here is the answer
        return Aid(name, "", _first_line(error), lost)


def _version(package: str) -> str:
    if find_spec(package) is None:
        return ""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
    return "of no known version"


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
