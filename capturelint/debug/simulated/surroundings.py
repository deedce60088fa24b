"""What user code meets in a session: torch's names, answering for the simulated device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from capturelint.debug.dispatched.patches import Patches
from capturelint.debug.simulated.assigned_data import put_data
from capturelint.debug.simulated.carried import put_classes
from capturelint.debug.simulated.compiling import put_compile
from capturelint.debug.simulated.conversions import put_conversions
from capturelint.debug.simulated.cuda_names import put_cuda
from capturelint.debug.simulated.fused import noticed, put_recurrent
from capturelint.debug.simulated.generator_names import put_generators
from capturelint.debug.simulated.making import put_makers
from capturelint.debug.simulated.modules import put_modules
from capturelint.debug.simulated.saved import put_load
from capturelint.debug.simulated.threads import put_threads

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator


@contextmanager
def patched(simulator: Simulator) -> Iterator[None]:
    """Return a context in which `torch.cuda` and its like answer for the simulated device."""
    patches = Patches()
    try:
        put_cuda(patches, simulator)
        put_generators(patches, simulator)
        put_conversions(patches, simulator)
        put_data(patches)
        put_classes(patches)
        put_modules(patches)
        put_makers(patches, simulator)
        put_load(patches, simulator)
        put_compile(patches, simulator)
        put_recurrent(patches, simulator)
        put_threads(patches, simulator)
        with noticed(simulator):
            yield
    finally:
        patches.put_back()
