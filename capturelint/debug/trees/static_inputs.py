"""Fresh contents for static inputs: what a graph's user copies in before each replay."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import Parameter
from torch.optim import Optimizer

from capturelint.debug.trees.branches import branches
from capturelint.debug.trees.descriptions import described
from capturelint.debug.trees.memory import (
    common_span,
    dressed,
    flat,
    is_array,
    is_overlapping,
    shape_of,
    span_of,
    storage_key,
)

_NUMBERS = (bool, int, float, complex)
# Two of these are the same only if they are one.
_UNIQUE = (type, nn.Module, Optimizer, Enum, torch.dtype, torch.layout, torch.memory_format)


class ArgumentVariesError(Exception):
    """Two calls differ in more than the contents of tensors, so one graph cannot serve both.

    `path`: where. `was`, `is_`: what the static inputs and the fresh ones have there, in words.
    `is_number`: both are numbers of Python.
    """

    def __init__(self, path: str, was: str, is_: str, *, is_number: bool = False) -> None:
        super().__init__(f"{path or 'the argument'} was {was} and is {is_}")
        self.path, self.was, self.is_, self.is_number = path, was, is_, is_number


def copy_into(static: object, fresh: object) -> None:
    """Copy the contents of the tensors in `fresh` into those at the same place in `static`.

    Memory that tensors share is copied once; so are numpy arrays. What can only be told by
    identity, such as a stream, is taken for the same. Raises ArgumentVariesError if anything else
    differs, before anything is copied where that can be seen from shapes and strides.
    """
    pairs = _Pairs()
    pairs.add(static, fresh, "")
    with torch.inference_mode():  # tensors made in it can only be written in it
        for group in pairs.by_storage():
            _copy_group(group)
    for to, source in pairs.arrays:
        to[...] = source


def check_alike(first: object, other: object) -> None:
    """Raise ArgumentVariesError if the two differ in more than contents, as far as shapes tell."""
    _Pairs().add(first, other, "")


@dataclass(frozen=True, slots=True)
class _Pair:
    path: str
    to: Tensor
    source: Tensor


class _Pairs:
    """What is to be copied where."""

    def __init__(self) -> None:
        self.tensors: list[_Pair] = []
        self.arrays: list[tuple[Any, Any]] = []
        self.met: set[tuple[int, int]] = set()

    def add(self, static: Any, fresh: Any, path: str) -> None:
        if static is fresh or (id(static), id(fresh)) in self.met:
            return
        self.met.add((id(static), id(fresh)))
        if isinstance(static, Tensor) and isinstance(fresh, Tensor):
            self._add_tensor(_Pair(path, static, fresh))
        elif type(static) is not type(fresh):
            raise _varies(path, static, fresh)
        elif is_array(type(static)):
            if (static.shape, static.dtype) != (fresh.shape, fresh.dtype):
                raise _varies(path, static, fresh)
            self.arrays.append((static, fresh))
        else:
            self._add_branches(static, fresh, path)

    def _add_tensor(self, pair: _Pair) -> None:
        to, source = pair.to, pair.source
        if _kind(to) != _kind(source):
            raise _varies(pair.path, to, source)
        if isinstance(to, Parameter):  # it is the model's own, never to be written here
            raise ArgumentVariesError(pair.path, "one parameter", "another")
        self.tensors.append(pair)

    def _add_branches(self, static: Any, fresh: Any, path: str) -> None:
        held, wanted = branches(static, path), branches(fresh, path)
        if held is None or wanted is None:
            if not _is_same(static, fresh):
                raise _varies(path, static, fresh)
            return
        if isinstance(static, (set, frozenset)):
            _compare_sets(static, fresh, path)
            return
        names, wanted_names = [name for name, _ in held], [name for name, _ in wanted]
        if names != wanted_names:
            raise ArgumentVariesError(path, *_difference(static, fresh, names, wanted_names))
        for (name, item), (_, other) in zip(held, wanted, strict=True):
            self.add(item, other, name)

    def by_storage(self) -> list[list[_Pair]]:
        """Return the pairs, those together whose static tensors share memory."""
        groups: dict[int, list[_Pair]] = defaultdict(list)
        for number, pair in enumerate(self.tensors):
            key = storage_key(pair.to)
            groups[-1 - number if key is None else key].append(pair)
        return list(groups.values())


def _kind(tensor: Tensor) -> tuple[object, ...]:
    return shape_of(tensor), tensor.dtype, tensor.device, tensor.layout


def _varies(path: str, static: object, fresh: object) -> ArgumentVariesError:
    is_number = isinstance(static, _NUMBERS) and isinstance(fresh, _NUMBERS)
    return ArgumentVariesError(path, described(static), described(fresh), is_number=is_number)


def _difference(
    static: object, fresh: object, names: Sequence[str], wanted: Sequence[str]
) -> tuple[str, str]:
    """Return in words how what two nodes hold differs."""
    if len(names) != len(wanted):
        return described(static), described(fresh)
    return ", ".join(names), ", ".join(wanted)


def _compare_sets(static: Any, fresh: Any, path: str) -> None:
    # Nothing tells which tensor of the one stands for which of the other.
    if any(isinstance(item, Tensor) for item in static) or static != fresh:
        raise _varies(path, static, fresh)


def _is_same(static: Any, fresh: Any) -> bool:
    """Return whether two leaves of one type, no tensors, are the same to the code they reach."""
    if isinstance(static, _UNIQUE):
        return False  # the same one would not have come here
    if isinstance(static, FunctionType):
        return bool(static.__code__ is fresh.__code__)
    cls: Any = type(static)
    if cls.__eq__ is object.__eq__:
        return True
    try:
        return bool(static == fresh) or bool(static != static and fresh != fresh)
    except Exception:  # noqa: BLE001 - a class may compare as it likes
        return True


def _copy_group(pairs: Sequence[_Pair]) -> None:
    if storage_key(pairs[0].to) is None:
        pairs[0].to.copy_(pairs[0].source)
        return
    if _is_laid_out_alike(pairs):
        to, source = [pair.to for pair in pairs], [pair.source for pair in pairs]
        flat(to, common_span(to)).copy_(flat(source, common_span(source)))
        return
    for pair in pairs:
        _copy_elements(pair.to, pair.source)
    if len(pairs) == 1 and not is_overlapping(pairs[0].to):
        return
    for pair in pairs:
        if not _holds(pair.to, pair.source):
            raise ArgumentVariesError(pair.path, "memory that is shared", "not shared so")


def _is_laid_out_alike(pairs: Sequence[_Pair]) -> bool:
    """Return whether the sources lie to each other in one storage just as the static tensors do."""
    first = pairs[0]
    key = storage_key(first.source)
    shift = span_of(first.source).start - span_of(first.to).start
    return key is not None and all(
        storage_key(pair.source) == key
        and span_of(pair.source).start - span_of(pair.to).start == shift
        and _steps(pair.source) == _steps(pair.to)
        and pair.source.is_conj() == pair.to.is_conj()
        and pair.source.is_neg() == pair.to.is_neg()
        for pair in pairs
    )


def _steps(tensor: Tensor) -> list[int]:
    """Return the strides of the dimensions that have more than one element."""
    return [step for step, n in zip(tensor.stride(), tensor.shape, strict=True) if n > 1]


def _copy_elements(to: Tensor, source: Tensor) -> None:
    if not is_overlapping(to):
        to.copy_(source)
        return
    span = span_of(to)
    memory = flat([to], span)
    places = torch.arange(memory.numel(), device=to.device).as_strided(to.shape, to.stride())
    stored = dressed(source, to).resolve_conj().resolve_neg()
    memory.index_put_((places.reshape(-1),), stored.reshape(-1))


def _holds(to: Tensor, source: Tensor) -> bool:
    same = (to == source) | ((to != to) & (source != source))
    return bool(same.all())
