"""`torch.cuda.Stream` and `Event`, `torch.Stream` and `Event`: made, they are simulated ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from capturelint.debug.simulated.device import is_simulated

if TYPE_CHECKING:
    from capturelint.debug.dispatched.patches import Patches
    from capturelint.debug.simulated.simulator import Simulator


def put_streams(patches: Patches, simulator: Simulator) -> None:
    """Let the classes of torch make streams and events of the simulator.

    The classes stay the same, so that those imported by name work too.
    """
    streams = simulator.streams

    def new_stream(cls: type, device: Any = None, priority: int = 0, **known: Any) -> Any:  # noqa: ARG001 - as torch calls it
        if "stream_id" in known:
            return streams.numbered(known["stream_id"])
        if "stream_ptr" in known:
            raise simulator.cannot_tell("a stream of another library (torch.cuda.ExternalStream)")
        return streams.new(priority)

    def new_event(cls: type, enable_timing: bool = False, *_rest: Any, **_options: Any) -> Any:  # noqa: ARG001, FBT001, FBT002 - as torch calls it
        return streams.event(is_timing=enable_timing)

    patches.put(torch.cuda.Stream, "__new__", staticmethod(new_stream))
    patches.put(torch.cuda.Event, "__new__", staticmethod(new_event))
    patches.put(torch.cuda.Stream, "priority_range", staticmethod(lambda: (0, -5)))
    patches.put(torch, "Stream", _on_either(torch.Stream, new_stream))
    patches.put(torch, "Event", _on_either(torch.Event, new_event, default="cuda"))


def _on_either(real: type, simulated: Any, default: str | None = None) -> type:
    """Return a class that makes what the device asks for: a simulated thing, or a real one."""

    class OnEither(real):  # type: ignore[misc]  # a variable class
        def __new__(cls, device: Any = default, *args: Any, **options: Any) -> Any:
            if device is None or is_simulated(device):
                return simulated(cls, **options)
            return real(device, *args, **options)

    OnEither.__name__ = OnEither.__qualname__ = real.__name__
    return OnEither
