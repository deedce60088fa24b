"""Which operation lets pad rows into real rows: operations of runs on the same real rows, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from capturelint.debug.attempts.compare import Tolerance, difference
from capturelint.debug.frames import is_called_from, users_frames
from capturelint.debug.pads.rows import Axis, Rows, axes_between, only_axis, real_part
from capturelint.debug.trees import copies
from capturelint.debug.trees.memory import storage_key
from capturelint.debug.trees.trees import leaves
from capturelint.verdict import Place

# Stand-ins copy what they answer: that is no work of the part.
_COPIES = str(Path(copies.__file__).parent)
_NOWHERE = Place("", 0)


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of torch. `made`: what it returned or wrote, copied. `given`: shapes of its tensors.

    `sources`: numbers of the operations that made those. `written`: the storage it wrote in place.
    """

    name: str
    place: Place
    module: str
    made: tuple[Tensor, ...]
    given: tuple[tuple[int, ...], ...]
    sources: tuple[int, ...]
    written: int | None = None


class TooMuchError(Exception):
    """The operations of a run make more than may be kept."""


class Following(TorchFunctionMode):
    """Writes down each call of torch. `module`: tells which module runs. `limit`: bytes to keep."""

    def __init__(self, module: Callable[[], str], limit: int) -> None:
        super().__init__()
        self.operations: list[Operation] = []
        self._module = module
        self._left = limit
        self._alive: list[Tensor] = []  # an id must not come again
        self._makers: dict[int, int] = {}

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        given = list(_tensors((args, kwargs)))
        shapes = tuple(tuple(one.shape) for one in given)
        sources = tuple(self._makers[id(one)] for one in given if id(one) in self._makers)
        result = func(*args, **kwargs)
        name = _name_of(func)
        target = _target(name, args, kwargs)
        made = [target] if target is not None else list(_tensors(result))
        if made and not is_called_from(_COPIES):
            self._keep(name, made, shapes, sources, target)
        return result

    def _keep(
        self,
        name: str,
        made: Sequence[Tensor],
        shapes: tuple[tuple[int, ...], ...],
        sources: tuple[int, ...],
        target: Tensor | None,
    ) -> None:
        self._left -= sum(one.numel() * one.element_size() for one in made)
        if self._left < 0:
            raise TooMuchError
        number = len(self.operations)
        for one in made:
            self._makers[id(one)] = number
            self._alive.append(one)
        place = next(iter(users_frames(limit=1)), _NOWHERE)
        with torch.no_grad():
            copies = tuple(one.detach().clone() for one in made)
        written = None if target is None else storage_key(target)
        self.operations.append(
            Operation(name, place, self._module(), copies, shapes, sources, written)
        )


@dataclass(frozen=True, slots=True)
class Leak:
    """The operation that mixes pad rows into real ones. `is_seen`: real rows were seen to move."""

    operation: Operation
    is_seen: bool


class _Status(Enum):
    STILL = "nothing of real rows moved"
    ROWS = "real rows moved"
    WHOLE = "something without rows moved"
    UNCLEAR = "it moved, and which rows cannot be told"


@dataclass(frozen=True, slots=True)
class Runs:
    """Operations of one part: on its own rows, with other pad rows, and with fewer rows."""

    base: Sequence[Operation]
    filled: Sequence[Operation]
    shorter: Sequence[Operation] | None
    rows: Rows
    total: int  # rows of `shorter`


def first_leak(runs: Runs, tolerance: Tolerance, state: int | None) -> Leak | None:
    """Return the operation that mixes pad rows into real ones; None if that cannot be told.

    `state`: the storage that is written otherwise, where that is what moved.
    """
    statuses = list(_statuses(runs, tolerance))
    for number, status in enumerate(statuses):
        if status is _Status.UNCLEAR:
            return None
        if status is _Status.ROWS:
            return Leak(runs.base[_cause(number, statuses, runs)], is_seen=True)
    mixing = [
        number
        for number, status in enumerate(statuses)
        if status is _Status.WHOLE and _has_rows(number, runs)
    ]
    lines = {(runs.base[one].place.path, runs.base[one].place.line) for one in mixing}
    if len(lines) == 1 and len(statuses) == len(runs.base):
        return Leak(runs.base[mixing[0]], is_seen=False)
    writing = [
        number
        for number, status in enumerate(statuses)
        if status is _Status.WHOLE and state is not None and runs.base[number].written == state
    ]
    if not writing:
        return None
    return Leak(runs.base[_cause(writing[0], statuses, runs)], is_seen=False)


def _statuses(runs: Runs, tolerance: Tolerance) -> Iterator[_Status]:
    """Yield what happened to each operation, as long as both runs do the same."""
    for number, (base, filled) in enumerate(zip(runs.base, runs.filled, strict=False)):
        if (base.name, base.place) != (filled.name, filled.place):
            yield _Status.UNCLEAR
            return
        yield _worst(
            _status(one, other, _axes(number, index, runs), runs.rows, tolerance)
            for index, (one, other) in enumerate(zip(base.made, filled.made, strict=False))
        )


def _worst(statuses: Iterator[_Status]) -> _Status:
    found = set(statuses)
    order = (_Status.ROWS, _Status.UNCLEAR, _Status.WHOLE)
    return next((one for one in order if one in found), _Status.STILL)


def _status(
    base: Tensor, filled: Tensor, axes: tuple[Axis, ...] | None, rows: Rows, tolerance: Tolerance
) -> _Status:
    if base.shape != filled.shape:
        return _Status.UNCLEAR
    if difference(base, filled, tolerance) is None:
        return _Status.STILL
    if axes is None:
        return _Status.UNCLEAR
    if not axes:
        return _Status.WHOLE
    real = real_part(base, axes, rows), real_part(filled, axes, rows)
    return _Status.STILL if difference(*real, tolerance) is None else _Status.ROWS


def _cause(number: int, statuses: Sequence[_Status], runs: Runs) -> int:
    """Return which operation mixed the rows: the one whose result has none, where that came in."""
    whole = [one for one in runs.base[number].sources if statuses[one] is _Status.WHOLE]
    while whole:
        number = whole[0]
        if _has_rows(number, runs):
            break
        whole = [
            one
            for one in runs.base[number].sources
            if one < number and statuses[one] is _Status.WHOLE
        ]
    return number


def _has_rows(number: int, runs: Runs) -> bool:
    """Return whether something that the operation is given has rows."""
    other = _shorter(number, runs)
    for index, shape in enumerate(runs.base[number].given):
        if other is None:
            axes = only_axis(shape, runs.rows)
        elif index < len(other.given):
            axes = axes_between(shape, other.given[index], runs.rows, runs.total)
        else:
            continue
        if axes:
            return True
    return False


def _axes(number: int, index: int, runs: Runs) -> tuple[Axis, ...] | None:
    shape = runs.base[number].made[index].shape
    other = _shorter(number, runs)
    if other is None:
        return only_axis(shape, runs.rows)
    if index >= len(other.made):
        return None
    return axes_between(shape, other.made[index].shape, runs.rows, runs.total)


def _shorter(number: int, runs: Runs) -> Operation | None:
    if runs.shorter is None or number >= len(runs.shorter):
        return None
    other = runs.shorter[number]
    base = runs.base[number]
    return other if (other.name, other.place) == (base.name, base.place) else None


def _tensors(tree: object) -> Iterator[Tensor]:
    return (leaf.value for leaf in leaves(tree) if isinstance(leaf.value, Tensor))


def _name_of(func: Any) -> str:
    name = str(getattr(func, "__name__", func))
    owner = getattr(func, "__self__", None)
    return str(getattr(owner, "__name__", name)) if name in ("__get__", "__set__") else name


def _target(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensor | None:
    """Return the tensor that a call wrote in place, if it did."""
    out = kwargs.get("out")
    if isinstance(out, Tensor):
        return out
    is_writing = name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))
    is_augmented = name.startswith("__i") and name.endswith("__") and name != "__invert__"
    if (is_writing or is_augmented) and args and isinstance(args[0], Tensor):
        return args[0]
    return None
