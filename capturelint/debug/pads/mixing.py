"""Which operation lets pad rows into real rows: runs on the same real rows, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from torch import Tensor

from capturelint.debug.attempts.compare import Tolerance, difference
from capturelint.debug.pads.following import Operation
from capturelint.debug.pads.rows import Axis, Rows, axes_between, only_axis, real_part


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
