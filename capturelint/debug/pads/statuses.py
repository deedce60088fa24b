"""What happened to each operation of a run with other pad rows, side by side with one without."""

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


class Status(Enum):
    """What happened to what one operation made."""

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


def statuses_of(
    runs: Runs,
    tolerance: Tolerance,
    orders: dict[int, tuple[Arrangement, ...]],
    guessed: set[int],
) -> Iterator[Status]:
    """Yield what happened to each operation, as long as both runs do the same.

    `orders`: gains the orders of rows that are not those of the batch, by number. `guessed`: gains
    the numbers of those that are taken to have no rows, for what they are made of.
    """
    wholes: set[int] = set()
    for number, (base, filled) in enumerate(zip(runs.base, runs.filled, strict=False)):
        if (base.name, base.place) != (filled.name, filled.place):
            yield Status.APART
            return
        if base.name.startswith(_UNWRITTEN):
            yield Status.STILL
            continue
        found: list[Arrangement] = []
        statuses = [
            _status(number, index, runs, tolerance, orders, found)
            for index in range(len(base.made))
        ]
        if found:
            orders[number] = tuple(dict.fromkeys(found))
        worst = _worst(statuses)
        if worst is Status.UNCLEAR and _is_without_rows(number, runs, wholes):
            guessed.add(number)
            worst = Status.WHOLE
        if worst is Status.WHOLE:
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
    return is_made_of_state and not has_rows(number, runs)


def _worst(statuses: Sequence[Status]) -> Status:
    order = (Status.ROWS, Status.UNCLEAR, Status.WHOLE, Status.ORDER)
    return next((one for one in order if one in statuses), Status.STILL)


def _status(
    number: int,
    index: int,
    runs: Runs,
    tolerance: Tolerance,
    orders: Mapping[int, tuple[Arrangement, ...]],
    found: list[Arrangement],
) -> Status:
    """Return what happened to one result. `found`: gains the order of its rows, where it is another."""
    made, others = runs.base[number].made, runs.filled[number].made
    if index >= len(others) or made[index].shape != others[index].shape:
        return Status.UNCLEAR
    base, filled = made[index], others[index]
    if difference(base, filled, tolerance) is None:
        return Status.STILL
    axes = _axes(number, index, runs)
    if axes is None:
        return Status.UNCLEAR
    if not axes:
        return Status.WHOLE
    real = real_part(base, axes, runs.rows), real_part(filled, axes, runs.rows)
    if difference(*real, tolerance) is None:
        return Status.STILL
    known = [one for source in runs.base[number].sources for one in orders.get(source, ())]
    if len(axes) > 1 or axes[0].block > 1:
        return Status.UNCLEAR if known else Status.ROWS
    order, is_sure = _order(number, index, runs, axes[0], [*known, plain(runs.rows.total)])
    for one in dict.fromkeys([*known, *order]):
        if _fits(base, filled, axes[0], runs.rows, one, tolerance):
            found.append(one)
            return (Status.STILL if one in known else Status.ORDER) if is_sure else Status.UNCLEAR
    return Status.ROWS


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


def has_rows(number: int, runs: Runs) -> bool:
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
