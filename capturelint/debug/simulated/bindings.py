"""What torch's own Python code calls in its CUDA build, answered for the simulated device.

A build without CUDA lacks these functions. With them `torch.cuda` works as it is written, also
where user code has imported one of its functions by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from capturelint.debug.simulated.device_facts import ARCHITECTURES, memory_statistics
from capturelint.debug.simulated.ordinals import check_ordinal

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator
    from capturelint.debug.simulated.streams import SimulatedStream


class Bindings:
    """The functions of one session, each as `torch._C` names it after `_cuda_`."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._debug_mode = 0

    def table(self) -> Mapping[str, Callable[..., Any]]:
        """Return the functions by the names that they have in `torch._C`."""
        return {f"_cuda_{name}": function for name, function in self._functions().items()}

    def _functions(self) -> Mapping[str, Callable[..., Any]]:
        return {
            "getDeviceCount": lambda: 1,
            "getDevice": lambda: 0,
            "setDevice": self.exchange_device,
            "exchangeDevice": self.exchange_device,
            "maybeExchangeDevice": self.exchange_device,
            "canDeviceAccessPeer": lambda *_devices: False,
            "getArchFlags": lambda: ARCHITECTURES,
            "getCurrentStream": lambda _device: _named(self._simulator.streams.current),
            "getCurrentRawStream": lambda _device: self._simulator.streams.current.cuda_stream,
            "getDefaultStream": lambda _device: _named(self._simulator.streams.default),
            "setStream": self._set_stream,
            "isCurrentStreamCapturing": self._simulator.is_capturing_here,
            "synchronize": self.synchronize,
            "sleep": _nothing,
            "cudaCachingAllocator_raw_alloc": self.allocate,
            "set_sync_debug_mode": self._set_debug_mode,
            "get_sync_debug_mode": lambda: self._debug_mode,
            "getCurrentBlasHandle": lambda: 1,
            **_memory(),
        }

    def exchange_device(self, index: int) -> int:
        """Go to a device, and return that which was current. Raises CannotTellError if it is new."""
        check_ordinal(self._simulator, index)
        return 0 if index >= 0 else -1

    def synchronize(self, *_device: object) -> None:
        """Wait for the device: refused while capturing."""
        self._simulator.streams.refuse("torch.cuda.synchronize")

    def profile(self) -> int:
        """Begin or end a profile, which a capture does not survive."""
        self._simulator.streams.refuse("torch.cuda.profiler", code="")
        return 0

    def allocate(self, *_args: object) -> NoReturn:
        """Say that memory cannot be taken by its address."""
        raise self._simulator.cannot_tell("device memory by its address (caching_allocator_alloc)")

    def spread(self, *_args: object) -> NoReturn:
        """Say that work cannot be spread over devices."""
        raise self._simulator.cannot_tell(
            "work spread over devices (torch.nn.DataParallel; judge the module inside it)"
        )

    def _set_stream(self, stream_id: int, **_device: object) -> None:
        self._simulator.streams.current = self._simulator.streams.numbered(stream_id)

    def _set_debug_mode(self, mode: int) -> None:
        self._debug_mode = mode


def _named(stream: SimulatedStream) -> tuple[int, int, int]:
    return stream.stream_id, stream.device_index, stream.device_type


def _nothing(*_args: object, **_kwargs: object) -> None:
    """Do what has no meaning without a device."""


def _memory() -> Mapping[str, Callable[..., Any]]:
    """Return the functions that ask or tell the allocator; all of them may be called in a capture."""
    ignored = (
        "emptyCache ipc_collect resetPeakMemoryStats resetAccumulatedMemoryStats setMemoryFraction "
        "resetPeakHostMemoryStats resetAccumulatedHostMemoryStats record_memory_history "
        "recordMemoryHistory memorySnapshotDump"
    ).split()
    return {
        **dict.fromkeys(ignored, _nothing),
        "memoryStats": lambda _device: memory_statistics(),
        "hostMemoryStats": dict,
        "memorySnapshot": lambda *_pool: {"segments": [], "device_traces": []},
        "getAllocatorBackend": lambda: "native",
        "getMemoryFraction": lambda *_device: 1.0,
        "cudaCachingAllocator_is_enabled": lambda: True,
    }
