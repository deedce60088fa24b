"""What CUDA checks before it runs an operation: devices of the tensors, and the current stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from capturelint.debug.simulated.call import Call
from capturelint.debug.simulated.device import is_simulated
from capturelint.debug.simulated.ordinals import check_ordinal
from capturelint.debug.simulated.refusal import NOT_PERMITTED, Refusal
from capturelint.finding import Effect

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
    """Refuse, or list as frozen, work that a capture does not see, as the H200 showed it.

    Work on the default stream, which is that of other threads too, runs once and is no part of the
    graph, without an error. On another stream that did not join it fails if it takes memory, and so
    does memory of its own in another thread.
    """
    if call.schema.is_view:
        return
    label = call.schema.label
    is_elsewhere = not simulator.is_in_capturing_thread()
    if is_elsewhere and call.is_on_device and not call.devices:
        simulator.refuse(Refusal(NOT_PERMITTED, "thread", f"{label} in another thread"))
    elif simulator.streams.current is simulator.streams.default:
        where = "in another thread" if is_elsewhere else "on the default stream"
        text = "runs once while capturing and is no part of the graph"
        refusal = Refusal(text, "stream", f"{label} {where}", effect=Effect.STALE, sticky=False)
        simulator.refuse(refusal)
    elif not is_elsewhere and not call.schema.writes:
        outside = f"{label} on a stream outside the capture"
        simulator.refuse(Refusal(NOT_PERMITTED, "stream", outside))
