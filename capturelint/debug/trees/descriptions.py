"""Values in a few words, for reports: numbers as they are, tensors by dtype and shape."""

from __future__ import annotations

from torch import Tensor

from capturelint.debug.trees.containers import container_of
from capturelint.debug.trees.memory import shape_of

_SHOWN = (bool, int, float, complex, str, bytes, type(None))
_WIDTH = 60


def described(value: object) -> str:
    """Return `value` in words, without reading a tensor's elements or running its own `repr`."""
    cls = type(value)
    if isinstance(value, Tensor):
        name = str(value.dtype).removeprefix("torch.")
        place = "" if value.device.type == "cpu" else f" on {value.device.type}"
        return f"{name} tensor {_shape(value)}{place}"
    if cls in _SHOWN or cls.__module__ == "torch":
        text = repr(value)
        return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
    container = container_of(cls)
    if container is not None:
        return f"{cls.__name__} of {len(container.items(value))}"
    return cls.__qualname__


def _shape(tensor: Tensor) -> str:
    return f"({', '.join(str(size) for size in shape_of(tensor))})"
