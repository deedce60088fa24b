"""What one node of a tree of values holds, by path; what is no node is a leaf."""

from __future__ import annotations

from typing import Any

from torch.optim import Optimizer

from capturelint.debug.trees.attributes import attributes, is_plain
from capturelint.debug.trees.containers import container_of
from capturelint.debug.trees.per_class import once_per_class


@once_per_class
def is_object(cls: type) -> bool:
    """Return whether trees descend into the attributes of an instance of `cls`."""
    return container_of(cls) is None and is_plain(cls) and not issubclass(cls, Optimizer)


def branches(value: Any, path: str) -> list[tuple[str, object]] | None:
    """Return what `value`, found at `path`, holds: the path of each and the thing itself.

    None when it is a leaf. An instance without attributes is one too: such are told by identity.
    """
    cls = type(value)
    container = container_of(cls)
    if container is None:
        held = attributes(value) if is_object(cls) else {}
        return [(_dotted(path, name), item) for name, item in held.items()] or None
    names = getattr(cls, "_fields", ())
    items = container.items(value)
    # A model output holds each value twice, as an item and as an attribute.
    held = {
        name: item
        for name, item in attributes(value).items()
        if not (isinstance(value, dict) and items.get(name) is item)
    }
    twice = isinstance(value, dict) and len(held) < len(attributes(value))
    found = [
        (_of_item(path, names[key] if names else key, is_name=bool(names) or twice), item)
        for key, item in items.items()
    ]
    return found + [(_dotted(path, name), item) for name, item in held.items()]


def _dotted(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _of_item(path: str, key: object, *, is_name: bool) -> str:
    """Return the path of an item; names of arguments, at the top, stand without brackets."""
    if isinstance(key, str) and key.isidentifier() and (is_name or not path):
        return _dotted(path, key)
    return f"{path}[{key!r}]"
