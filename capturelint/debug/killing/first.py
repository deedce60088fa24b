"""Find the first call, line and operation with which the beginning of a run dies.

The search knows nothing of torch: it asks whether a beginning dies, which may cost a process, and
what a call runs itself. A longer beginning does all that a shorter one does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

_BLOCKS = 16  # that a list is tried in: of those that live each costs little


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much a call runs itself. `operations`: by the number of the line, 0 where it has none."""

    calls: int
    lines: int
    operations: dict[int, int]


@dataclass(frozen=True, slots=True)
class Spot:
    """What a run dies with. `calls`: the deepest call, by number at each level.

    `line`, `operation`: the number of the line in that call, and of the operation in that line (or
    in the call, where it has no lines), or 0 where none was found.
    """

    calls: tuple[int, ...] = ()
    line: int = 0
    operation: int = 0


@dataclass(frozen=True, slots=True)
class Questions:
    """What the search asks. Each of the first four: whether the run up to there dies.

    `sizes`: of the call at a place. `after`, `before`: a call. `at_line`: so many lines of a call.
    `at_operation`: so many operations of that line.
    """

    sizes: Callable[[tuple[int, ...]], Sizes]
    after: Callable[[tuple[int, ...]], bool]
    before: Callable[[tuple[int, ...]], bool]
    at_line: Callable[[tuple[int, ...], int], bool]
    at_operation: Callable[[tuple[int, ...], int, int], bool]


def first_dying(count: int, dies: Callable[[int], bool], *, is_last_known: bool) -> int | None:
    """Return the first of 1 to `count` that dies, or None if none does.

    If one dies all later ones do. At most two that die are asked about. `is_last_known`: the last is
    known to die, and not asked about.
    """
    block = max(1, -(-count // _BLOCKS))
    low = 0
    while low < count:
        high = min(low + block, count)
        if (is_last_known and high == count) or dies(high):
            return next((one for one in range(low + 1, high) if dies(one)), high)
        low = high
    return None


def first_spot(ask: Questions) -> Spot:
    """Return where a run that is known to die as a whole dies first."""
    calls: tuple[int, ...] = ()
    while True:
        sizes = ask.sizes(calls)
        number = _first_call(ask, calls, sizes.calls)
        if number is None or ask.before((*calls, number)):
            return _own(ask, calls, sizes)
        calls = (*calls, number)


def _first_call(ask: Questions, calls: tuple[int, ...], count: int) -> int | None:
    return first_dying(count, lambda number: ask.after((*calls, number)), is_last_known=False)


def _own(ask: Questions, calls: tuple[int, ...], sizes: Sizes) -> Spot:
    """Return what of a call's own lines and operations it dies with."""
    line = first_dying(sizes.lines, lambda n: ask.at_line(calls, n), is_last_known=True) or 0
    ran = sizes.operations.get(line, 0)
    operation = first_dying(ran, lambda n: ask.at_operation(calls, line, n), is_last_known=False)
    return Spot(calls, line, operation or 0)
