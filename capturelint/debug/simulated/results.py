"""What an operator's results become: device tensors, the tensors that were written, or numbers."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from capturelint.debug.dispatched.tensors import storage_of
from capturelint.debug.simulated.call import Call
from capturelint.debug.simulated.tensor import DATA, DeviceTensor

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator


def wrapped(simulator: Simulator, call: Call, result: Any) -> Any:
    """Return the results of a call with its plain tensors in the shape that the caller expects."""
    schema = call.schema
    written = [t for t in call.written() if isinstance(t, DeviceTensor)] if schema.writes else []
    if schema.resizes:
        for tensor in written:
            _match(tensor)
    if schema.short == "_pack_padded_sequence":  # packed data on the device, sizes on the host
        return DeviceTensor.over(result[0], simulator), result[1]
    same = {id(tensor.elem): tensor for tensor in written}
    for host in call.hosts:
        same[id(host)] = host  # type: ignore[assignment]  # only looked up, never used as device
    if isinstance(result, torch.Tensor):
        return _one(simulator, call, result, same)
    kind = type(result)
    if kind is tuple or kind is list:
        return kind(
            [
                _one(simulator, call, item, same) if isinstance(item, torch.Tensor) else item
                for item in result
            ]
        )
    return result


def _one(
    simulator: Simulator, call: Call, tensor: torch.Tensor, same: dict[int, DeviceTensor]
) -> torch.Tensor:
    known = same.get(id(tensor))
    if known is not None:
        return known
    if call.is_on_device:
        return DeviceTensor.over(tensor, simulator)
    if call.schema.short == "_to_copy" and call.given_named.get("non_blocking"):
        simulator.pinned.add(tensor)  # a copy to the host that does not wait lands in pinned memory
    return tensor


def keep_recorded_alias(call: Call) -> None:
    """Give the tensors that a call will reshape a plain tensor of their own.

    What was recorded before refers to the old one with its old sizes.
    """
    for tensor in call.written():
        if isinstance(tensor, DeviceTensor):
            old = tensor.elem
            tensor.elem = old.view(old.shape) if old.is_inference() else old.detach()
    call.unwrap()


def _match(tensor: DeviceTensor) -> None:
    """Bring sizes and strides of a device tensor in line with those of its plain tensor."""
    elem = tensor.elem
    if tensor.shape == elem.shape and tensor.stride() == elem.stride():
        return
    if storage_of(tensor) == storage_of(elem):
        with torch._C._DisableTorchDispatch():  # it is the same kernel for every device
            tensor.as_strided_(elem.size(), elem.stride(), elem.storage_offset())
        return
    alias = DeviceTensor.over(elem.detach(), tensor.simulator)
    with torch.no_grad():
        DATA.__set__(tensor, alias)
