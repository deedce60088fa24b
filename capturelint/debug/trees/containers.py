"""How containers hold their items: lists, dicts, sets, tuples and their subclasses."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Mapping
from typing import Any, Protocol

from capturelint.debug.trees.per_class import once_per_class


class Container(Protocol):
    """One kind of container, of whatever subclass."""

    is_mutable: bool
    has_keys: bool

    def items(self, value: Any) -> dict[Any, object]:
        """Return what it holds, by key or index."""

    def item(self, value: Any, key: Any) -> object:
        """Return one thing that it holds. Raises LookupError if there is none at `key`."""

    def blank(self, value: Any) -> Any:
        """Return an empty one of the same class."""

    def fill(self, value: Any, items: Mapping[Any, object]) -> None:
        """Make it hold `items` and nothing else."""

    def made(self, value: Any, items: Mapping[Any, object]) -> Any:
        """Return a new one of the same class that holds `items`."""


class _Mutable:
    is_mutable = True
    has_keys = False

    def items(self, value: Any) -> dict[Any, object]:
        return dict(enumerate(value))

    def item(self, value: Any, key: Any) -> object:
        return self.items(value)[key]

    def blank(self, value: Any) -> Any:
        cls: Any = type(value)
        return cls.__new__(cls)

    def fill(self, value: Any, items: Mapping[Any, object]) -> None:
        raise NotImplementedError

    def made(self, value: Any, items: Mapping[Any, object]) -> Any:
        new = self.blank(value)
        self.fill(new, items)
        return new


class _Dict(_Mutable):
    """`base`: whose methods are called, for a subclass may do more in its own."""

    has_keys = True

    def __init__(self, base: type[dict[Any, Any]]) -> None:
        self.base = base

    def items(self, value: Any) -> dict[Any, object]:
        return dict(self.base.items(value))

    def item(self, value: Any, key: Any) -> object:
        if not self.base.__contains__(value, key):
            raise KeyError(key)
        return self.base.__getitem__(value, key)

    def blank(self, value: Any) -> Any:
        new = super().blank(value)
        if self.base is defaultdict:
            new.default_factory = value.default_factory
        return new

    def fill(self, value: Any, items: Mapping[Any, object]) -> None:
        self.base.clear(value)
        for key, item in items.items():
            self.base.__setitem__(value, key, item)


class _List(_Mutable):
    def items(self, value: Any) -> dict[Any, object]:
        return dict(enumerate(list.__iter__(value)))

    def item(self, value: Any, key: Any) -> object:
        return list.__getitem__(value, key)

    def fill(self, value: Any, items: Mapping[Any, object]) -> None:
        list.__setitem__(value, slice(None), list(items.values()))


class _Deque(_Mutable):
    def blank(self, value: Any) -> Any:
        new = super().blank(value)
        deque.__init__(new, (), value.maxlen)
        return new

    def fill(self, value: Any, items: Mapping[Any, object]) -> None:
        deque.clear(value)
        deque.extend(value, items.values())


class _Set(_Mutable):
    def fill(self, value: Any, items: Mapping[Any, object]) -> None:
        set.clear(value)
        set.update(value, items.values())


class _Frozen(_Mutable):
    """Tuples and frozen sets."""

    is_mutable = False

    def __init__(self, base: type[Any]) -> None:
        self.base = base

    def items(self, value: Any) -> dict[Any, object]:
        return dict(enumerate(self.base.__iter__(value)))

    def made(self, value: Any, items: Mapping[Any, object]) -> Any:
        cls = type(value)
        if hasattr(cls, "n_sequence_fields"):  # what `torch.max(x, dim)` and the like return
            return cls(list(items.values()))
        return self.base.__new__(cls, items.values())


_CONTAINERS: tuple[tuple[type, Container], ...] = (
    (OrderedDict, _Dict(OrderedDict)),
    (defaultdict, _Dict(defaultdict)),
    (dict, _Dict(dict)),
    (list, _List()),
    (deque, _Deque()),
    (set, _Set()),
    (frozenset, _Frozen(frozenset)),
    (tuple, _Frozen(tuple)),
)


@once_per_class
def container_of(cls: type) -> Container | None:
    """Return the kind of container that `cls` is, or None when it is none."""
    if cls.__module__ == "torch" and cls.__name__ == "Size":
        return None
    return next((container for base, container in _CONTAINERS if issubclass(cls, base)), None)
