"""Evaluating a changed function again, with the answers that it got before it changed."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from typing import Any

from capturelint.kind import UNKNOWN, Ref, Value
from capturelint.lint.symbols import Function
from capturelint.lint.values.account import (
    CONSTANT,
    READ,
    WORKED_OUT,
    WORKED_OUT_CONSTANT,
    Account,
    Entry,
)
from capturelint.lint.values.accounts import SETUP, Accounts, Record
from capturelint.lint.values.analysis import Analysis
from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.asked import Asked
from capturelint.lint.values.coding import UnsaidError, mark_of
from capturelint.lint.values.frame import Frame
from capturelint.lint.values.modes import handed
from capturelint.lint.values.state import FunctionState
from capturelint.names import FileFacts


def _account_of(frame: Frame) -> Account:
    if frame.account is None:
        raise DifferentError
    return frame.account


_KNOWN = {READ: WORKED_OUT, CONSTANT: WORKED_OUT_CONSTANT}
_AGAIN = {fresh: known for known, fresh in _KNOWN.items()}


class DifferentError(Exception):
    """A function asks or gives something else than before, so that others may as well."""


class Script:
    """The questions of one account with their answers, to be asked in the same order.

    What was worked out before a question may be read again, or not be read.
    """

    def __init__(self, entries: Sequence[Sequence[int]], *, is_strict: bool) -> None:
        self._is_strict = is_strict
        self._steps: list[tuple[Entry, int]] = []
        self._known: dict[Entry, tuple[int, int]] = {}
        self._next = 0
        for *question, answer in entries:
            kind = question[0]
            if kind in _KNOWN:
                fresh = (_KNOWN[kind], *question[1:])
                self._known[fresh] = (len(self._steps), answer)
            else:
                self._steps.append((tuple(question), answer))

    @property
    def is_finished(self) -> bool:
        """Return whether all that has an effect has been asked."""
        return self._next == len(self._steps)

    def answer_to(self, question: Entry) -> tuple[int, bool]:
        """Return the number of an answer, and whether it was worked out before.

        Raises `DifferentError` for a question that was not asked here before.
        """
        known = self._known.get(question)
        if known is not None and known[0] <= self._next:
            return known[1], True
        if self.is_finished or self._steps[self._next][0] != question:
            raise DifferentError
        answer = self._steps[self._next][1]
        self._next += 1
        if question[0] in _AGAIN and not self._is_strict:
            self._known[question] = (self._next, answer)
        return answer, False


class Rehearsed(Asked):
    """Answers from a script."""

    def __init__(self, analysis: Analysis, again: Again) -> None:
        super().__init__(analysis)
        self._again = again

    def call(self, frame: Frame, ref: Ref, arguments: Arguments, node: ast.AST | None) -> Value:
        account = _account_of(frame)
        line = getattr(node, "lineno", 0)
        question = account.call(ref, handed(frame, arguments), line, captured=frame.captured)
        return self._given(account, question)

    def stored(self, frame: Frame, index: int, name: str) -> Value | None:
        account = _account_of(frame)
        return self._answer(account, account.read(index, name, is_known=False))

    def constant(self, frame: Frame, file: FileFacts, name: str) -> Value:
        account = _account_of(frame)
        question = account.constant(file.module, name, is_known=False)
        return self._given(account, question)

    def bind(self, frame: Frame, ref: Ref, arguments: Arguments) -> None:
        account = _account_of(frame)
        question = account.call(ref, arguments, 0, captured=frame.captured, is_bound=True)
        self._answer(account, question)

    def graph(self, frame: Frame, given: Value, sample: Value = UNKNOWN) -> None:  # noqa: ARG002 - lambdas are unsaid
        account = _account_of(frame)
        self._answer(account, account.graphed((given,)))

    def _given(self, account: Account, question: Entry) -> Value:
        found = self._answer(account, question)
        if found is None:
            raise DifferentError
        return found

    def _answer(self, account: Account, question: Entry) -> Value | None:
        if account.is_unsaid:
            raise DifferentError
        number, is_known = self._again.script.answer_to(question)
        if is_known:
            question = (_AGAIN[question[0]], *question[1:])
        found = None if number < 0 else self._again.decoded(number)
        account.note(question, found)
        return found


class Again:
    """Evaluates one function as often as it was evaluated before. `analyses`: one for each phase.

    They must be made with `accounts`, which holds no account of the function yet.
    """

    def __init__(
        self, analyses: Sequence[Analysis], accounts: Accounts, function: Function
    ) -> None:
        self.states: dict[int, FunctionState] = {}
        self.script = Script((), is_strict=True)
        self._analyses = analyses
        self._accounts = accounts
        self._function = function
        self._places = accounts.places_of(function)
        for analysis in analyses:
            analysis.asked = Rehearsed(analysis, self)

    def decoded(self, number: int) -> Value:
        """Return the value with a number. Raises `DifferentError` where its place is not known yet."""
        try:
            return self._accounts.coding.decoded(number, self._places, self._function.index)
        except UnsaidError as error:
            raise DifferentError from error

    def perform(self, record: Record) -> Record:
        """Return the record of the function as it is now, its states with their marks in `states`.

        Raises `DifferentError` unless it says the same as `record`, but for places.
        """
        for before in record.accounts:
            self._perform(before)
        self._analyses[0].entrance.signature(self._function)
        text = self._accounts.record_of(self._function, dict(enumerate(self._analyses)))
        if text is None:
            raise DifferentError
        now = Record(*json.loads(text))
        if (now.told, len(now.lines), len(now.spans)) != (
            record.told,
            len(record.lines),
            len(record.spans),
        ):
            raise DifferentError
        for phase, marks in record.marks:
            spans = self._places.spans
            self.states[phase].marks = {spans[place]: mark_of(mark) for place, mark in marks}
        return now._replace(marks=record.marks)

    def _perform(self, before: Any) -> None:
        head, entries, outcome = before
        phase, kind, *rest = head
        analysis = self._analyses[phase]
        self._accounts.phase = phase
        self.script = Script(entries, is_strict=kind == SETUP)
        closed = len(self._accounts.closed.get(self._function.index, []))
        if kind == SETUP:
            analysis.setup.evaluate(self._function, self._named(rest))
        else:
            self._evaluate(analysis, phase, rest)
        done = self._accounts.closed.get(self._function.index, [])
        if len(done) != closed + 1 or not self.script.is_finished or analysis.failures:
            raise DifferentError
        now = json.loads(done[-1])
        if now[0] != head or now[2] != outcome:
            raise DifferentError

    def _evaluate(self, analysis: Analysis, phase: int, rest: Sequence[int]) -> None:
        state = self.states.get(phase)
        if state is None:
            # Its decorators, which count in the first round, are as they were.
            state = FunctionState(self._function.index, rounds=1)
            analysis.states[state.index] = self.states[phase] = state
        state.is_root, state.loop_line = bool(rest[0]), rest[1]
        state.params = self._named(rest[2:])
        analysis.evaluate(state)

    def _named(self, said: Sequence[int]) -> dict[str, Value]:
        """Return named values from their numbers."""
        coding = self._accounts.coding
        pairs = zip(said[1::2], said[2::2], strict=True)
        return {coding.names[name]: self.decoded(value) for name, value in pairs}
