"""Which storages calls write, found by watching the dispatcher, and what those held before."""

# ruff: noqa: SLF001 - storages are told apart and reached by torch's own private handles
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from capturelint.debug.trees.hosted import copy_storage, is_large_on_device, storage_on_host
from capturelint.debug.trees.memory import storage_key, storage_of

# Batch norms write these though their schemas call them read-only (torch 2.6 to 2.13).
_WRITTEN_ANYWAY = frozenset({"running_mean", "running_var"})
# Absent where torch was built without CUDA.
_IS_CAPTURING: Callable[[], bool] | None = getattr(torch._C, "_cuda_isCurrentStreamCapturing", None)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a storage held. `handle` does not keep it alive. `is_host`: it is not on a device.

    `bytes`: on the host if they are many.
    """

    handle: StorageWeakRef
    bytes: torch.UntypedStorage = field(repr=False)  # which would show each of them
    is_host: bool

    @property
    def is_gone(self) -> bool:
        """Return whether nobody can see the storage any more."""
        return bool(self.handle.expired())  # type: ignore[no-untyped-call] # torch leaves it so

    def restore(self) -> None:
        """Copy the bytes back in place."""
        storage = _alive(self.handle)
        if storage is None:
            return
        with no_dispatch():
            if storage.nbytes() != self.bytes.nbytes():
                storage.resize_(self.bytes.nbytes())
            copy_storage(storage, self.bytes)


class Storages:
    """The storages that watched calls wrote and that existed before the call."""

    def __init__(self) -> None:
        self._written: dict[int, tuple[StorageWeakRef, bool]] = {}

    @property
    def written(self) -> frozenset[int]:
        """Return the keys of the storages that were written so far."""
        return frozenset(self._written)

    @contextmanager
    def watching(self, at_first_write: Callable[[int, Contents], None]) -> Iterator[None]:
        """Remember what is written inside; tell of each storage before it is written first."""
        captured: dict[int, Tensor] = {}

        def note(tensor: Tensor) -> None:
            key = storage_key(tensor)
            if key is None or key in self._written:
                return
            self._written[key] = _handle(storage_of(tensor)), is_host(tensor)
            if _is_capturing():
                captured[key] = tensor
            else:
                at_first_write(key, contents_of(tensor))

        try:
            with _WriteWatch(note):
                yield
        finally:
            # A capture runs nothing; what would have been written is as it was.
            for key, tensor in captured.items():
                at_first_write(key, contents_of(tensor))

    def saved(self, always: Iterable[Tensor]) -> dict[int, Contents]:
        """Return the contents of all storages written so far and of those of `always`."""
        self._written = {
            key: (handle, host)
            for key, (handle, host) in self._written.items()
            if _alive(handle) is not None
        }
        found: dict[int, Contents] = {}
        for key, (handle, host) in self._written.items():
            storage = _alive(handle)
            if storage is not None:
                found[key] = _cloned(storage, is_host=host)
        for tensor in always:
            place = storage_key(tensor)
            if place is not None and place not in found:
                found[place] = contents_of(tensor)
        return found


def contents_of(tensor: Tensor) -> Contents:
    """Return what the storage of `tensor` holds now."""
    storage = storage_of(tensor)
    assert storage is not None
    return _cloned(storage, is_host=is_host(tensor))


def is_host(tensor: Tensor) -> bool:
    """Return whether a tensor is in host memory, as Python sees it."""
    return tensor.device.type == "cpu"


def _cloned(storage: torch.UntypedStorage, *, is_host: bool) -> Contents:
    # Below the dispatcher nothing sees the copy: no mode, no version counter, no inference mode.
    with no_dispatch():
        if is_large_on_device(storage, storage.nbytes()):
            return Contents(_handle(storage), storage_on_host(storage), is_host)
        clone: torch.UntypedStorage = storage.clone()  # type: ignore[no-untyped-call] # torch leaves it so
        return Contents(_handle(storage), clone, is_host)


def _handle(storage: torch.UntypedStorage | None) -> StorageWeakRef:
    return StorageWeakRef(storage)  # type: ignore[no-untyped-call] # torch leaves it so


def _alive(handle: StorageWeakRef) -> torch.UntypedStorage | None:
    storage: torch.UntypedStorage | None = torch.UntypedStorage._new_with_weak_ptr(handle.cdata)
    return storage


def _is_capturing() -> bool:
    """Return whether work is really being captured, whatever the code under test is told."""
    if _IS_CAPTURING is None or not torch.cuda.is_initialized():  # type: ignore[no-untyped-call] # torch leaves it so
        return False
    try:
        return bool(_IS_CAPTURING())
    except RuntimeError:  # no device, only a simulated one
        return False


class _WriteWatch(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch leaves it so
    """Calls `note` with each tensor about to be written that was not made inside."""

    supports_higher_order_operators = True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Else each operation passes through a wrapper, and the first one loads torch._dynamo: 2-5 s.
        return False

    def __init__(self, note: Callable[[Tensor], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # torch leaves it so
        self._note = note
        # Addresses may come back, but not that of a storage that was there before and still is.
        self._made: set[int | None] = set()

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, OpOverload):
            return func(*args, **kwargs)
        for tensor in _written_by(func, args, kwargs):
            if storage_key(tensor) not in self._made:
                self._note(tensor)
        result = func(*args, **kwargs)
        made = {storage_key(tensor) for tensor in _tensors(result)} - self._made
        # An operation may return what it was given.
        if made and func is not torch.ops.aten.lift_fresh.default:
            given = _tensors([*args, *kwargs.values()])
            made -= {storage_key(tensor) for tensor in given}
        self._made |= made
        return result


def _written_by(
    func: OpOverload[Any, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[Tensor]:
    for position, name in _written_arguments(func):
        value = args[position] if position < len(args) else kwargs.get(name)
        yield from _tensors(value)


@cache
def _written_arguments(func: OpOverload[Any, Any]) -> tuple[tuple[int, str], ...]:
    return tuple(
        (position, argument.name)
        for position, argument in enumerate(func._schema.arguments)
        if (argument.alias_info is not None and argument.alias_info.is_write)
        or argument.name in _WRITTEN_ANYWAY
    )


def _tensors(value: object) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
