"""Which operation lets pad rows into real rows: runs on the same real rows, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from capturelint.debug.attempts.compare import Tolerance
from capturelint.debug.pads.arranged import Arrangement
from capturelint.debug.pads.following import Operation
from capturelint.debug.pads.statuses import Runs, Status, has_rows, statuses_of


@dataclass(frozen=True, slots=True)
class Leak:
    """The operation that lets pad rows into real ones; None if it cannot be told.

    `is_seen`: real rows were seen to move. `is_order`: nothing else happened than that rows are put
    into another order.
    """

    operation: Operation | None
    is_seen: bool = False
    is_order: bool = False


def first_leak(runs: Runs, tolerance: Tolerance, state: int | None) -> Leak | None:
    """Return the operation that mixes pad rows into real ones; None if that cannot be told.

    What only moves rows mixes none: it is to blame where nothing else is. `state`: the storage
    that is written otherwise, where that is what moved.
    """
    orders: dict[int, tuple[Arrangement, ...]] = {}
    guessed: set[int] = set()
    statuses = list(statuses_of(runs, tolerance, orders, guessed))
    for number, status in enumerate(statuses):
        if status is Status.UNCLEAR:
            return None
        if status is Status.APART:
            only = _on_one_line(_mixing(statuses, runs), runs)
            return None if only is None else Leak(only)
        if status is Status.ROWS:
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
    moving = [number for number, status in enumerate(statuses) if status is Status.ORDER]
    if moving:
        return Leak(_on_one_line(moving, runs), is_order=True)
    return _written(statuses, runs, state)


def _mixing(statuses: Sequence[Status], runs: Runs) -> Sequence[int]:
    """Return the operations that make something without rows, which moved, of something with rows."""
    return [
        number
        for number, status in enumerate(statuses)
        if status is Status.WHOLE and has_rows(number, runs)
    ]


def _on_one_line(numbers: Sequence[int], runs: Runs) -> Operation | None:
    """Return the first of these operations, if all are of one line."""
    found = [runs.base[number] for number in numbers]
    lines = {(one.place.path, one.place.line) for one in found}
    return found[0] if len(lines) == 1 else None


def _sources(runs: Runs, *numbers: int) -> Iterator[int]:
    for number in numbers:
        yield from runs.base[number].sources


def _written(statuses: Sequence[Status], runs: Runs, state: int | None) -> Leak | None:
    writing = [
        number
        for number, status in enumerate(statuses)
        if status is Status.WHOLE and state is not None and runs.base[number].written == state
    ]
    if not writing:
        return None
    return Leak(runs.base[_cause(writing[0], statuses, runs)])


def _cause(number: int, statuses: Sequence[Status], runs: Runs) -> int:
    """Return which operation mixed the rows: the one whose result has none, where that came in."""
    whole = [one for one in runs.base[number].sources if statuses[one] is Status.WHOLE]
    while whole:
        number = whole[0]
        if has_rows(number, runs):
            break
        whole = [
            one
            for one in runs.base[number].sources
            if one < number and statuses[one] is Status.WHOLE
        ]
    return number
