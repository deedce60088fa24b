"""What CUDA checks before it runs an operation: devices of the tensors, and the current stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from capturelint.debug.dispatched.streams import refusal_outside
from capturelint.debug.simulated.call import Call
from capturelint.debug.simulated.device import is_simulated
from capturelint.debug.simulated.ordinals import check_ordinal

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator


def check_devices(simulator: Simulator, call: Call) -> None:
    """Refuse tensors of several devices, as CUDA's kernels do.

    Raises RuntimeError. Raises CannotTellError for a second device.
    """
    target = call.target()
    if target is not None:
        device = torch.device(target)
        if is_simulated(device):
            check_ordinal(simulator, device)
    if call.schema.short == "_pack_padded_sequence":
        _check_lengths(call)
    if not call.hosts or not call.devices or call.schema.takes_both:
        return
    for host in call.hosts:
        if host.dim() > 0 or not call.schema.takes_host_scalar:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"cuda:0 and {host.device}! (when checking arguments of {call.schema.label})"
            )


def _check_lengths(call: Call) -> None:
    lengths = call.given[1]
    if is_simulated(lengths.device):
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got "
            f"{lengths.dim()}D cuda:0 {str(lengths.dtype).removeprefix('torch.').title()} tensor"
        )


def check_stream(simulator: Simulator, call: Call) -> None:
    """Refuse, or list as frozen, work that a capture does not see."""
    refusal = refusal_outside(
        call.schema,
        capture_error_mode=simulator.capture_error_mode,
        is_elsewhere=not simulator.is_in_capturing_thread(),
        is_on_default=simulator.streams.current is simulator.streams.default,
        takes_memory=call.is_on_device and not call.devices,
    )
    if refusal is not None:
        simulator.refuse(refusal)
