"""Run `bench` on the GPU: open it, load the case there, and measure."""

from __future__ import annotations

import os
from collections.abc import Callable

from capturelint.debug.backend import BackendError, SpentError
from capturelint.debug.backends import BrokenTorchError, why_no_device
from capturelint.debug.settings import Settings
from capturelint.errors import CapturelintError
from capturelint.measure.bench.plan import Plan
from capturelint.measure.bench.result import Bench


class NoGpuError(BackendError):
    """There is no GPU to measure."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"bench needs a CUDA device: {why}; `ladder`, `bench --compare`, `--from-serve` and"
            " `--shapes` work without one"
        )


class LostError(CapturelintError):
    """The device was lost while it was measured."""


def check_gpu() -> None:
    """Raise `BackendError` where there is no GPU. Imports torch."""
    # Read when torch is loaded: its profiler tells of each start and stop on standard error.
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    try:
        missing = why_no_device()
    except (ImportError, OSError) as error:
        raise BrokenTorchError(error) from error
    if missing:
        raise NoGpuError(missing)


def bench(
    target: str,
    *,
    inputs: str | None,
    call: str | None,
    settings: Settings,
    plan: Plan,
    say: Callable[[str], object],
) -> Bench:
    """Return what was measured of a case by name, in this process. Raises `CapturelintError`."""
    from capturelint.debug.cases.loading import load
    from capturelint.debug.cuda import CudaBackend
    from capturelint.measure.bench.cuda_meter import CudaMeter
    from capturelint.measure.bench.measuring import Edge, Measuring

    backend = CudaBackend(settings.capture_error_mode)
    make = load(target, inputs=inputs, call=call, settings=settings)
    with backend.session():
        edge = Edge(backend, CudaMeter(), backend.session)
        try:
            return Measuring(edge, plan, settings, say).bench(make, target)
        except SpentError as error:
            raise LostError(f"{error}; start again, with fewer --batch-sizes or --eager") from error
