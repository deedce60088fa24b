"""Calls on real rows alone, without pad rows: they tell what belongs to real rows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from capturelint.debug.attempts.part import Call, Part
from capturelint.debug.pads.batch import Batch
from capturelint.debug.pads.calls import Axes, cut, with_real_rows
from capturelint.debug.pads.families import Calls
from capturelint.debug.pads.fills import NUMBERS, filled
from capturelint.debug.pads.ground import CannotRunPadsError, Ground
from capturelint.debug.pads.left import Left
from capturelint.debug.pads.rows import Rows

_LONGEST = 100  # characters of an error in a note


class FewerRows:
    """Makes the calls and runs them. `notes`: gains what the user must know, once."""

    def __init__(self, ground: Ground, notes: list[str]) -> None:
        self._ground = ground
        self._notes = notes
        self._calls: dict[int, tuple[Calls, ...]] = {}
        self._probes: dict[int, tuple[Calls, ...]] = {}
        self._is_said = False

    def calls(self, batch: Batch, rows: Rows) -> tuple[Calls, ...]:
        """Return calls on real rows alone, of two contents; () if such do not run.

        What the case does not call a batch may still be as long as one, such as a mask of its rows.
        """
        if rows.real not in self._calls:
            self._calls[rows.real] = self._running(batch, rows)
        return self._calls[rows.real]

    def probed(self, part: Part, rows: Rows) -> Iterator[Left]:
        """Yield what the calls leave with odd contents of the real rows, and with one row less.

        A counter of rows may be the same for all usual contents. What raises tells nothing.
        """
        for calls in self._probes.get(rows.real, ()):
            try:
                yield self._ground.left(part, calls, is_fresh=True)
            except CannotRunPadsError:
                continue

    def _running(self, batch: Batch, rows: Rows) -> tuple[Calls, ...]:
        part = batch.part
        (call,), (stale,) = part.steps[:2]
        other = with_real_rows(call, part.run, batch.axes, rows.real, stale)
        problem = ""
        for axes in (batch.axes, batch.axes_by_size):
            calls = tuple((cut(one, part.run, axes, rows.real),) for one in (call, other))
            try:
                self._ground.left(part, calls[0], is_fresh=True)
            except CannotRunPadsError as error:
                problem = problem or str(error)
            else:
                odd = _odd(calls[0][0], calls[1][0], part, batch.axes, rows)
                fewer = [cut(call, part.run, axes, rows.real - 1)] if rows.real > 1 else []
                self._probes[rows.real] = tuple((one,) for one in (*fewer, *odd))
                return calls
        self._say(part, rows, problem)
        return ()

    def _say(self, part: Part, rows: Rows, problem: str) -> None:
        if self._is_said:
            return
        self._is_said = True
        why = textwrap.shorten(problem, _LONGEST, placeholder=" ...")
        self._notes.append(
            f"pad rows: {part.path or 'the case'} runs with {rows.total} rows only (with "
            f"{rows.real} it {why}), so which rows of a tensor are real is told by sizes: a "
            f"dimension of {rows.total} is the batch where a tensor has one such dimension"
        )


def _odd(call: Call, other: Call, part: Part, axes: Axes, rows: Rows) -> Sequence[Call]:
    """Return the call with odd numbers in all of its rows."""
    none_real = Rows(rows.real, 0)
    made = (filled(call, part.run, axes, none_real, fill, other) for fill in NUMBERS)
    return [one for one in made if one is not None]
