"""Forms of indexing: masks and indices on the host, and values that torch would have to copy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from capturelint.debug.dispatched.arguments import Arguments, is_on_device

_MASKS = (torch.bool, torch.uint8)


def _indices(arguments: Arguments) -> list[torch.Tensor]:
    return [index for index in arguments["indices"] if isinstance(index, torch.Tensor)]


def _has_mask(arguments: Arguments) -> bool:
    return any(index.dtype in _MASKS and is_on_device(index) for index in _indices(arguments))


def _has_host_index(arguments: Arguments) -> bool:
    if not is_on_device(arguments["self"]):
        return False
    return any(not is_on_device(index) and _selects(index) for index in _indices(arguments))


def _selects(index: torch.Tensor) -> bool:
    """Return whether an index on the host picks anything, so that it is copied over."""
    if index.dtype in _MASKS:
        return bool(index.any())
    return index.numel() > 0


def _is_filled(arguments: Arguments) -> bool:
    """Return whether torch fills one number in where a single mask is true."""
    value, indices = arguments["values"], _indices(arguments)
    if arguments["accumulate"] or is_on_device(value) or value.numel() != 1:
        return False
    return len(indices) == 1 and _has_mask(arguments)


def _has_host_value_or_index(arguments: Arguments) -> bool:
    if not is_on_device(arguments["self"]):
        return False
    return not is_on_device(arguments["values"]) or _has_host_index(arguments)


FORMS: Mapping[str, Callable[[Arguments], bool]] = {
    "a mask": _has_mask,
    "a host index": _has_host_index,
    "a mask and a host value, not accumulated": _is_filled,
    "a host value or index": _has_host_value_or_index,
}
