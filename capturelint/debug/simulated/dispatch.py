"""What happens to each operation in a session: it is checked, run on the host, and recorded."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode

from capturelint.debug.dispatched import traps
from capturelint.debug.dispatched.refusal import NOT_PERMITTED, UNPINNED
from capturelint.debug.dispatched.schema import schema_of
from capturelint.debug.simulated import custom, fused
from capturelint.debug.simulated.call import Call
from capturelint.debug.simulated.checks import check_devices, check_stream
from capturelint.debug.simulated.kernels import Kernel, in_wider_dtype, lacks_dtype
from capturelint.debug.simulated.results import keep_recorded_alias, wrapped
from capturelint.debug.simulated.tensor import DeviceTensor

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator

_OURS = (DeviceTensor, nn.Parameter, nn.Buffer, nn.UninitializedBuffer)

# What C++ asks a tensor for its device with; half of all that is dispatched.
_DEVICE = torch.ops.prim.device.default


class DeviceMode(TorchDispatchMode):  # type: ignore[no-untyped-call]  # of its metaclass hook
    """Sends the operations of one thread to a simulator, after all modes of the user.

    In the slot for fake tensors, which also keeps torch from initialising CUDA.
    """

    _mode_key = torch._C._TorchDispatchModeKey.FAKE
    supports_higher_order_operators = True

    def __init__(self, simulator: Simulator) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._simulator = simulator

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Else each operation passes through a wrapper that costs more than the dispatch.
        return False

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if func is _DEVICE:
            return self._simulator.seen_by_cpp
        return dispatch(self._simulator, func, types, args, kwargs or {})


def dispatch(
    simulator: Simulator, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run one operation. Returns NotImplemented to let another tensor subclass go first."""
    if func is _DEVICE:
        return simulator.seen_by_cpp
    for kind in types:
        if kind is not DeviceTensor and kind is not torch.Tensor and not issubclass(kind, _OURS):
            return NotImplemented
    if not isinstance(func, OpOverload):
        return custom.run_higher_order(simulator, func, args)
    schema = schema_of(func)
    call = Call(schema, args, kwargs)
    if not call.is_work:
        return _on_host(simulator, func, call)
    if schema.is_composite:
        with DeviceMode(simulator):
            return fused.run(simulator, func, args, kwargs)
    if not schema.is_known:
        return custom.run_custom(simulator, func, args, kwargs)
    return _on_device(simulator, func, call)


def _on_host(simulator: Simulator, func: OpOverload, call: Call) -> Any:
    """Run work of the host: at once, never recorded."""
    if not call.kwargs.get("pin_memory"):
        return func(*call.args, **call.kwargs)
    call.kwargs["pin_memory"] = None
    return simulator.pinned.add(func(*call.args, **call.kwargs))


def _on_device(simulator: Simulator, func: OpOverload, call: Call) -> Any:
    capture = simulator.capture
    is_live = capture is not None and simulator.streams.current.capture is capture
    if capture is not None:
        _look_at(simulator, func, call, is_live=is_live)
    check_devices(simulator, call)
    simulator.libraries.use(func, call.given, call.given_named)
    if "pin_memory" in call.kwargs:
        call.kwargs["pin_memory"] = None
    tape = capture.tape if capture is not None and is_live else None
    if tape is not None:
        tape.expect_writes(call)
    if call.schema.reshapes:
        keep_recorded_alias(call)
    kernel, result, offset = _run(simulator, func, call)
    if tape is not None:
        tape.record(kernel, call, result, offset)
    if is_live:
        simulator.streams.current.worked()
    if simulator.launches is not None:
        simulator.launches.add(call.schema, call.given, call.given_named, call.plain(), result)
    return wrapped(simulator, call, result)


def _look_at(simulator: Simulator, func: OpOverload, call: Call, *, is_live: bool) -> None:
    """Refuse what a capture that is under way does not let pass."""
    if not is_live:
        check_stream(simulator, call)
    refusal = traps.refusal_of(func, call.given, call.given_named, simulator)
    if refusal is not None and not is_live and refusal.message == UNPINNED:
        # Torch looks only at its current stream before it copies; CUDA, whether the host waits.
        if call.given_named.get("non_blocking"):
            return
        refusal = replace(refusal, message=NOT_PERMITTED, sticky=True)
    if refusal is not None:
        simulator.refuse(refusal)


def _run(simulator: Simulator, func: OpOverload, call: Call) -> tuple[Kernel, Any, int | None]:
    """Return what ran, what it returned, and the offset of its random numbers."""
    kernel: Kernel = func
    offset = None
    if call.schema.draws:
        offset = simulator.random.take(call.kwargs.get("generator"))
        if "generator" in call.kwargs:
            call.kwargs["generator"] = None
    try:
        return kernel, _compute(simulator, kernel, call, offset), offset
    except NotImplementedError as error:
        if not lacks_dtype(error):
            raise simulator.cannot_tell(f"{call.schema.label} without a GPU") from error
    except RuntimeError as error:
        if not lacks_dtype(error):
            raise
    kernel = in_wider_dtype(kernel, call)
    return kernel, _compute(simulator, kernel, call, offset), offset


def _compute(simulator: Simulator, kernel: Kernel, call: Call, offset: int | None) -> Any:
    if offset is not None:
        with simulator.random.drawing(offset):
            return kernel(*call.args, **call.kwargs)
    result = kernel(*call.args, **call.kwargs)
    if call.schema.short == "_to_copy" and result is call.args[0]:
        return result.clone()  # a copy to the other side, though both are on the host here
    return result
