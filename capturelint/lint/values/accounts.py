"""The accounts of all evaluations of a run, as text that a later run can read back."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from capturelint.kind import Value
from capturelint.lint.symbols import Function
from capturelint.lint.values.account import Account, kept_of
from capturelint.lint.values.coding import Coding, Places, UnsaidError, mark_number
from capturelint.lint.values.state import FunctionState
from capturelint.source import line_shift

if TYPE_CHECKING:
    from capturelint.lint.values.analysis import Analysis

_dumps = json.JSONEncoder(separators=(",", ":")).encode
STATE, SETUP = range(2)


def first_line(function: Function) -> int:
    """Return the line on which a function begins in its own tree."""
    return function.facts.first_line - line_shift(function.facts)


class Record(NamedTuple):
    """All that is kept of one function, as JSON values.

    Places are numbers into `lines`, which count from the function's first, and `spans`. `accounts` hold what each evaluation was given, its questions and answers, and its outcome; `told`
    what others learn of it besides; `marks`, by phase, what its places do that a replay does not.
    """

    accounts: list[Any]
    told: list[Any]
    marks: list[Any]
    lines: list[int]
    spans: list[list[int]]


class Accounts:
    """Opens an account for each evaluation, and holds those that are closed.

    `phase`: which of the analyses of a run is under way. `closed` are the accounts of each function
    as JSON, in the order in which they were closed; of functions in `unsaid` not all could be kept.
    """

    def __init__(self, coding: Coding | None = None) -> None:
        self.coding = Coding() if coding is None else coding
        self.phase = 0
        self._places: dict[int, Places] = {}
        self.closed: dict[int, list[str]] = {}
        self.unsaid: set[int] = set()

    def of_state(self, state: FunctionState, function: Function, *, is_inside: bool) -> Account:
        """Return an account of captured code. `is_inside`: of code that runs before, under way."""
        account = self.opened(function, is_strict=False)
        # What it closes over is not noted; of a site, more is used than here.
        account.is_unsaid = function.parent >= 0 or state.is_site or is_inside
        account.head = [self.phase, STATE, int(state.is_root), state.loop_line]
        account.head += account.given(state.params)
        return account

    def of_setup(self, function: Function, given: Mapping[str, Value]) -> Account:
        """Return an account of code that runs before capture."""
        account = self.opened(function, is_strict=True)
        account.is_unsaid = function.parent >= 0
        account.head = [self.phase, SETUP, *account.given(given)]
        return account

    def leave(self, function: int) -> None:
        """Keep no account of a function, of which more is used than accounts tell."""
        self.unsaid.add(function)
        self.closed.pop(function, None)

    def forget(self, function: int) -> None:
        """Drop the accounts of a function, of which a record was made."""
        self.closed.pop(function, None)
        self._places.pop(function, None)

    def opened(self, function: Function, *, is_strict: bool) -> Account:
        """Return an empty account."""
        places = self.places_of(function)
        return Account(self.coding, places, function.index, is_strict=is_strict)

    def places_of(self, function: Function) -> Places:
        """Return the places of a function; the first line among them is that of its `def`."""
        places = self._places.get(function.index)
        if places is None:
            places = self._places[function.index] = Places(first_line(function))
            places.line(function.facts.line - line_shift(function.facts))
        return places

    def close(self, account: Account, result: Value, stores: Mapping[str, Value]) -> None:
        """Keep an account of an evaluation that has come to its end."""
        outcome = account.outcome(result, stores)
        if account.is_unsaid:
            self.leave(account.function)
        elif account.function not in self.unsaid:
            text = _dumps([account.head, account.entries, outcome])
            self.closed.setdefault(account.function, []).append(text)

    def record_of(self, function: Function, analyses: Mapping[int, Analysis]) -> str | None:
        """Return the record of a function as JSON; None if not all of it could be kept.

        `analyses` are those of the run by their phase, once they are finished.
        """
        index = function.index
        if index in self.unsaid:
            return None
        places = self.places_of(function)
        states = {phase: one.states.get(index) for phase, one in analyses.items()}
        evaluated = {phase: one for phase, one in states.items() if one is not None and one.rounds}
        try:
            told: list[object] = [self._signature(function, analyses.values(), places)]
            for phase, state in evaluated.items():
                told.append([phase, kept_of(state.kept, self.coding, places, index)])
            settled = len(places.spans)
            marks = [
                [
                    phase,
                    [(places.span(span), mark_number(mark)) for span, mark in state.marks.items()],
                ]
                for phase, state in evaluated.items()
                if state.marks
            ]
        except UnsaidError:
            return None
        if len(places.spans) > settled:
            # A mark on a place that nothing else speaks of could not be found again.
            return None
        accounts = ",".join(self.closed.get(index, ()))
        return f"[[{accounts}],{_dumps([told, marks, places.lines, places.spans])[1:]}"

    def _signature(
        self, function: Function, analyses: Iterable[Analysis], places: Places
    ) -> list[object]:
        known = (one.entrance.known_signature(function) for one in analyses)
        signature = next(filter(None, known), None)
        if signature is None:
            raise UnsaidError
        returns = signature.returns
        return [
            signature.positional,
            signature.names,
            [
                (name, self.coding.value(value, places, function.index))
                for name, value in signature.defaults.items()
            ],
            ast.dump(returns) if isinstance(returns, ast.expr) else returns,
        ]
