"""Copies between the host and the device: which of them CUDA lets pass while capturing.

Torch copies through memory of its own where the two sides differ in dtype or layout. That memory is
not pinned on the host, so that the whole copy is refused then. As copying in torch 2.11 is written,
checked on an H200.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from capturelint.debug.dispatched.arguments import Arguments, is_on_device, names_device


@dataclass(frozen=True, slots=True)
class _Copy:
    """One copy. `to`: what it is copied into, None where that is made as `source` is laid out."""

    source: torch.Tensor
    to: torch.Tensor | None
    dtype: torch.dtype
    to_device: bool
    from_device: bool
    is_waiting: bool
    layout: torch.memory_format | None

    @property
    def crosses(self) -> bool:
        return self.to_device != self.from_device

    @property
    def is_direct(self) -> bool:
        """Return whether both sides have one dtype and fill memory in the same order."""
        if self.source.dtype != self.dtype:
            return False
        if self.to is None:
            same = self.layout in (None, torch.preserve_format)
            return _is_dense(self.source) and (same or self._keeps_layout())
        sizes = self.to.shape == self.source.shape and self.to.stride() == self.source.stride()
        return sizes and _is_dense(self.to)

    def _keeps_layout(self) -> bool:
        assert self.layout is not None
        return self.source.is_contiguous(memory_format=self.layout)

    @property
    def lands_in_order(self) -> bool:
        """Return whether what is copied into is contiguous."""
        if self.to is not None:
            return self.to.is_contiguous()
        if self.layout in (None, torch.preserve_format):
            # Memory with gaps is closed up by a copy, other strides stay.
            return self.source.is_contiguous() or not _is_dense(self.source)
        return self.layout is torch.contiguous_format


def _is_dense(tensor: torch.Tensor) -> bool:
    """Return whether a tensor fills its memory without gaps or overlaps, in whatever order."""
    steps = sorted(
        (step, size) for step, size in zip(tensor.stride(), tensor.shape, strict=True) if size != 1
    )
    expected = 1
    for step, size in steps:
        if step != expected:
            return False
        expected *= size
    return True


def _copy_of(arguments: Arguments) -> _Copy:
    source = arguments["src"]
    waits = not arguments["non_blocking"]
    if isinstance(source, torch.Tensor):  # copy_
        to = arguments["self"]
        return _Copy(
            source,
            to,
            to.dtype,
            is_on_device(to),
            is_on_device(source),
            waits,
            None,
        )
    source, target = arguments["self"], arguments["device"]
    from_device = is_on_device(source)
    return _Copy(
        source,
        None,
        arguments["dtype"] or source.dtype,
        from_device if target is None or _is_nowhere(target) else names_device(target),
        from_device,
        waits,
        arguments["memory_format"],
    )


def _is_nowhere(target: Any) -> bool:
    return torch.device(target).type == "meta"


def _is_pinned(arguments: Arguments, tensor: torch.Tensor) -> bool:
    return arguments.device.is_pinned(tensor)


def _is_unpinned_to_device(arguments: Arguments) -> bool:
    copy = _copy_of(arguments)
    if not copy.crosses or not copy.to_device:
        return False
    if not _is_pinned(arguments, copy.source):
        return True
    if copy.is_direct:
        return False
    # What waits is converted on the host; what does not wait, on the device.
    gathered = not _is_dense(copy.source) or _is_spread(copy)
    return gathered or (copy.is_waiting and copy.source.dtype != copy.dtype)


def _is_spread(copy: _Copy) -> bool:
    if copy.to is None:
        return not (copy.source.is_contiguous() or copy.layout in (None, torch.preserve_format))
    return copy.to.shape != copy.source.shape or not copy.source.is_contiguous()


def _is_waiting_to_device(arguments: Arguments) -> bool:
    copy = _copy_of(arguments)
    return copy.crosses and copy.to_device and copy.is_waiting


def _is_unpinned_to_host(arguments: Arguments) -> bool:
    copy = _copy_of(arguments)
    if not copy.crosses or copy.to_device:
        return False
    # New memory is pinned if the copy does not wait.
    is_pinned = not copy.is_waiting if copy.to is None else _is_pinned(arguments, copy.to)
    return not is_pinned or not (copy.is_direct or copy.lands_in_order)


def _is_waiting_to_host(arguments: Arguments) -> bool:
    copy = _copy_of(arguments)
    return copy.crosses and not copy.to_device and copy.is_waiting


def _is_of_nothing(arguments: Arguments) -> bool:
    return bool(arguments["self"].numel() == 0)


def _has_hosts_in_list(arguments: Arguments) -> bool:
    return any(
        is_on_device(to) != is_on_device(source) and not _is_pinned(arguments, source)
        for to, source in zip(arguments["self"], arguments["src"], strict=True)
    )


FORMS: Mapping[str, Callable[[Arguments], bool]] = {
    "no elements": _is_of_nothing,
    "unpinned memory to the device": _is_unpinned_to_device,
    "pinned memory to the device, waiting": _is_waiting_to_device,
    "the device to unpinned memory": _is_unpinned_to_host,
    "the device to pinned memory, waiting": _is_waiting_to_host,
    "a list with host tensors": _has_hosts_in_list,
}
