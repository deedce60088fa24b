"""Which operation lets pad rows into real rows: runs on the same real rows, side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from torch import Tensor

from capturelint.debug.attempts.compare import Tolerance, difference
from capturelint.debug.pads.arranged import (
    Arrangement,
    in_order,
    moved_rows,
    order_in,
    plain,
)
from capturelint.debug.pads.following import Operation
from capturelint.debug.pads.rows import Axis, Rows, axes_between, only_axis, real_part

# They hold whatever lay there, until something writes.
_UNWRITTEN = ("empty", "new_empty")


@dataclass(frozen=True, slots=True)
class Leak:
    """The operation that lets pad rows into real ones; None if it cannot be told.

    `is_seen`: real rows were seen to move. `is_order`: nothing else happened than that rows are put
    into another order.
    """

    operation: Operation | None
    is_seen: bool = False
    is_order: bool = False


class _Status(Enum):
    STILL = "nothing of real rows moved"
    ORDER = "rows lie in another order, and nothing else moved"
    ROWS = "real rows moved"
    WHOLE = "something without rows moved"
    UNCLEAR = "it moved, and which rows cannot be told"
    APART = "from here on the runs do other things"


@dataclass(frozen=True, slots=True)
class Runs:
    """Operations of one part: on its own rows, with other pad rows, and with fewer rows."""

    base: Sequence[Operation]
    filled: Sequence[Operation]
    shorter: Sequence[Operation] | None
    rows: Rows
    total: int  # rows of `shorter`
    held: frozenset[int | None] = frozenset()  # storages of state


def first_leak(runs: Runs, tolerance: Tolerance, state: int | None) -> Leak | None:
    """Return the operation that mixes pad rows into real ones; None if that cannot be told.

    What only moves rows mixes none: it is to blame where nothing else is. `state`: the storage
    that is written otherwise, where that is what moved.
    """
    orders: dict[int, tuple[Arrangement, ...]] = {}
    guessed: set[int] = set()
    statuses = list(_statuses(runs, tolerance, orders, guessed))
    for number, status in enumerate(statuses):
        if status is _Status.UNCLEAR:
            return None
        if status is _Status.APART:
            only = _on_one_line(_mixing(statuses, runs), runs)
            return None if only is None else Leak(only)
        if status is _Status.ROWS:
            cause = _cause(number, statuses, runs)
            is_seen = cause not in guessed and not any(
                one in orders for one in _sources(runs, number, cause)
            )
            return Leak(runs.base[cause], is_seen)
    mixing = _mixing(statuses, runs)
    if len(statuses) != len(runs.base) and not mixing:
        return _written(statuses, runs, state)
    if mixing:
        only = _on_one_line(mixing, runs)
        return _written(statuses, runs, state) if only is None else Leak(only)
    moving = [number for number, status in enumerate(statuses) if status is _Status.ORDER]
    if moving:
        return Leak(_on_one_line(moving, runs), is_order=True)
    return _written(statuses, runs, state)


def _mixing(statuses: Sequence[_Status], runs: Runs) -> Sequence[int]:
    """Return the operations that make something without rows, which moved, of something with rows."""
    return [
        number
        for number, status in enumerate(statuses)
        if status is _Status.WHOLE and _has_rows(number, runs)
    ]


def _on_one_line(numbers: Sequence[int], runs: Runs) -> Operation | None:
    """Return the first of these operations, if all are of one line."""
    found = [runs.base[number] for number in numbers]
    lines = {(one.place.path, one.place.line) for one in found}
    return found[0] if len(lines) == 1 else None


def _sources(runs: Runs, *numbers: int) -> Iterator[int]:
    for number in numbers:
        yield from runs.base[number].sources


def _written(statuses: Sequence[_Status], runs: Runs, state: int | None) -> Leak | None:
    writing = [
        number
        for number, status in enumerate(statuses)
        if status is _Status.WHOLE and state is not None and runs.base[number].written == state
    ]
    if not writing:
        return None
    return Leak(runs.base[_cause(writing[0], statuses, runs)])


def _statuses(
    runs: Runs,
    tolerance: Tolerance,
    orders: dict[int, tuple[Arrangement, ...]],
    guessed: set[int],
) -> Iterator[_Status]:
    """Yield what happened to each operation, as long as both runs do the same.

    `orders`: gains the orders of rows that are not those of the batch, by number. `guessed`: gains
    the numbers of those that are taken to have no rows, for what they are made of.
    """
    wholes: set[int] = set()
    for number, (base, filled) in enumerate(zip(runs.base, runs.filled, strict=False)):
        if (base.name, base.place) != (filled.name, filled.place):
            yield _Status.APART
            return
        if base.name.startswith(_UNWRITTEN):
            yield _Status.STILL
            continue
        found: list[Arrangement] = []
        statuses = [
            _status(number, index, runs, tolerance, orders, found)
            for index in range(len(base.made))
        ]
        if found:
            orders[number] = tuple(dict.fromkeys(found))
        worst = _worst(statuses)
        if worst is _Status.UNCLEAR and _is_without_rows(number, runs, wholes):
            guessed.add(number)
            worst = _Status.WHOLE
        if worst is _Status.WHOLE:
            wholes.add(number)
        yield worst


def _is_without_rows(number: int, runs: Runs, wholes: Collection[int]) -> bool:
    """Return whether what an operation made has no rows, though its sizes would allow some.

    That is state, such as the slots of a cache, and what is made of it alone.
    """
    operation = runs.base[number]
    if operation.written is not None and operation.written in runs.held:
        return True
    is_made_of_state = bool(operation.sources) and all(one in wholes for one in operation.sources)
    return is_made_of_state and not _has_rows(number, runs)


def _worst(statuses: Sequence[_Status]) -> _Status:
    order = (_Status.ROWS, _Status.UNCLEAR, _Status.WHOLE, _Status.ORDER)
    return next((one for one in order if one in statuses), _Status.STILL)


def _status(
    number: int,
    index: int,
    runs: Runs,
    tolerance: Tolerance,
    orders: Mapping[int, tuple[Arrangement, ...]],
    found: list[Arrangement],
) -> _Status:
    """Return what happened to one result. `found`: gains the order of its rows, where it is another."""
    made, others = runs.base[number].made, runs.filled[number].made
    if index >= len(others) or made[index].shape != others[index].shape:
        return _Status.UNCLEAR
    base, filled = made[index], others[index]
    if difference(base, filled, tolerance) is None:
        return _Status.STILL
    axes = _axes(number, index, runs)
    if axes is None:
        return _Status.UNCLEAR
    if not axes:
        return _Status.WHOLE
    real = real_part(base, axes, runs.rows), real_part(filled, axes, runs.rows)
    if difference(*real, tolerance) is None:
        return _Status.STILL
    known = [one for source in runs.base[number].sources for one in orders.get(source, ())]
    if len(axes) > 1 or axes[0].block > 1:
        return _Status.UNCLEAR if known else _Status.ROWS
    order, is_sure = _order(number, index, runs, axes[0], [*known, plain(runs.rows.total)])
    for one in dict.fromkeys([*known, *order]):
        if _fits(base, filled, axes[0], runs.rows, one, tolerance):
            found.append(one)
            return (
                (_Status.STILL if one in known else _Status.ORDER) if is_sure else _Status.UNCLEAR
            )
    return _Status.ROWS


def _fits(
    base: Tensor,
    filled: Tensor,
    axis: Axis,
    rows: Rows,
    order: Arrangement,
    tolerance: Tolerance,
) -> bool:
    """Return whether nothing of real rows moved, if they lie in this order."""
    pair = in_order(base, axis.dim, order.base), in_order(filled, axis.dim, order.filled)
    real = [real_part(one, (axis,), rows) for one in pair]
    return difference(real[0], real[1], tolerance) is None


def _order(
    number: int, index: int, runs: Runs, axis: Axis, known: Sequence[Arrangement]
) -> tuple[Sequence[Arrangement], bool]:
    """Return orders that an operation may have put rows into, and whether rows can be told apart.

    `known`: the orders in which rows may have been given.
    """
    base, filled = runs.base[number], runs.filled[number]
    indices = order_in(base.made[index], filled.made[index], runs.rows.total)
    if indices is not None:
        return (indices,), True
    theirs = [one for place, one in filled.moved if place == index]
    mine = [one for place, one in base.moved if place == index]
    for given, other in zip(mine, theirs, strict=False):
        first, is_first_sure = moved_rows(base.made[index], given, axis, runs.rows.real)
        then, is_then_sure = moved_rows(filled.made[index], other, axis, runs.rows.real)
        if first is not None and then is not None:
            moved = Arrangement(first, then)
            return [moved.after(one) for one in known], is_first_sure and is_then_sure
    return (), True


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
